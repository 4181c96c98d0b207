/** Ingest sources: who may post reports, and from which mailboxes they are fetched. Spec "Bounce and complaint ingestion". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  ingestSourceDetailShape,
  ingestSourceShape,
  mintedSourceShape,
  newIngestSourceBody,
  toNewIngestSource,
  toWireSource,
  toWireSourceDetail,
} from '../wire/ingest-source.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['ingest']
const { limit, cursor } = pagingFields

export const ingestSourceOperations = ({ ingest, baseUrl }: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/ingest-sources',
    operationId: 'listIngestSources',
    summary: 'List ingest sources, the newest first',
    tags,
    right: 'api:read',
    query: z.strictObject({ limit, cursor }),
    response: pageOf(ingestSourceShape),
    async handle({ scope, query }) {
      const page = await ingest.sources.list(scope, query)
      return { data: page.rows.map((story) => toWireSource(story, baseUrl)), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/ingest-sources',
    operationId: 'createIngestSource',
    summary: 'Make an ingest source',
    description:
      'The secret is in this answer only. Everything that is posted to `webhook_url` carries `X-Service-Signature: sha256=` and the ' +
      'hexadecimal HMAC-SHA256 of the raw body under it.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['conflict'],
    body: newIngestSourceBody,
    response: mintedSourceShape,
    examples: { body: { provider: 'stalwart', label: 'mx1' } },
    async handle({ scope, body }) {
      const { story, secret } = await ingest.sources.create(scope, toNewIngestSource(body))
      return { ...toWireSource(story, baseUrl), hmac_secret: secret }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/ingest-sources/{id}',
    operationId: 'readIngestSource',
    summary: 'Read an ingest source and how it is doing',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: ingestSourceDetailShape,
    async handle({ scope, params }) {
      const story = await ingest.sources.get(scope, params.id)
      return toWireSourceDetail(story, await ingest.sources.leftOver(scope, params.id), baseUrl)
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/ingest-sources/{id}',
    operationId: 'revokeIngestSource',
    summary: 'Revoke an ingest source',
    description: 'Idempotent. Nothing that is signed with its secret is taken from then on; its postoffice mappings go with it.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => ingest.sources.revoke(scope, params.id),
  }),
]
