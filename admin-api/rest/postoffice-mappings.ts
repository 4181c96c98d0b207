/** Postoffice mappings of MailEnable. Spec "Bounce and complaint ingestion". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  newPostofficeMappingBody,
  postofficeMappingChangesBody,
  postofficeMappingShape,
  toMappingChanges,
  toWireMapping,
} from '../wire/ingest-source.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['ingest']
const { limit, cursor } = pagingFields

export const postofficeMappingOperations = (core: RestCore): readonly Operation[] => [...lists(core), ...single(core)]

const lists = ({ ingest }: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/mailenable/postoffice-mappings',
    operationId: 'listPostofficeMappings',
    summary: 'List postoffice mappings, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({ limit, cursor, bounce_source_config_id: id.optional() }),
    response: pageOf(postofficeMappingShape),
    async handle({ scope, query: { bounce_source_config_id: sourceId, ...page } }) {
      const { rows, nextCursor } = await ingest.mappings.list(scope, { ...page, sourceId })
      return { data: rows.map(toWireMapping), next_cursor: nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/mailenable/postoffice-mappings',
    operationId: 'createPostofficeMapping',
    summary: 'Say whose mail a postoffice sends',
    description: 'From the first mapping of a source on, what comes from postoffices without one is dropped.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    body: newPostofficeMappingBody,
    response: postofficeMappingShape,
    examples: { body: { bounce_source_config_id: 'src_0198c2', postoffice_name: 'example.com' } },
    async handle({ scope, body: { bounce_source_config_id: sourceId, postoffice_name: postoffice, ...rest } }) {
      return toWireMapping(await ingest.mappings.create(scope, { sourceId, postoffice, ...toMappingChanges(rest) }))
    },
  }),
]

const single = ({ ingest }: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/mailenable/postoffice-mappings/{id}',
    operationId: 'readPostofficeMapping',
    summary: 'Read a postoffice mapping',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: postofficeMappingShape,
    handle: async ({ scope, params }) => toWireMapping(await ingest.mappings.get(scope, params.id)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/mailenable/postoffice-mappings/{id}',
    operationId: 'updatePostofficeMapping',
    summary: 'Change project or destination of a postoffice mapping',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: postofficeMappingChangesBody,
    response: postofficeMappingShape,
    async handle({ scope, params, body }) {
      return toWireMapping(await ingest.mappings.update(scope, params.id, toMappingChanges(body)))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/mailenable/postoffice-mappings/{id}',
    operationId: 'deletePostofficeMapping',
    summary: 'End a postoffice mapping',
    description: 'Idempotent. After the last one, everything the source tells belongs to the whole organization again.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => ingest.mappings.remove(scope, params.id),
  }),
]
