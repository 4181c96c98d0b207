/** Sending domains: what to publish, whether it is published, and DKIM keys. */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { domainRecordsShape, domainShape, newDomainBody, toWireDomain, toWireRecord } from '../wire/domain.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['domains']

export const domainOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...writing(core)]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/domains',
    operationId: 'listDomains',
    summary: 'List sending domains, the newest first',
    tags,
    right: 'api:read',
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(domainShape),
    async handle({ scope, query }) {
      const page = await core.sendingDomains.list(scope, query)
      return { data: page.rows.map(toWireDomain), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/domains/{id}',
    operationId: 'readDomain',
    summary: 'Read a sending domain with the records to publish',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: domainShape,
    handle: async ({ scope, params }) => toWireDomain(await core.sendingDomains.get(scope, params.id)),
  }),
  operation({
    method: 'GET',
    path: '/v1/domains/{id}/records',
    operationId: 'listDomainRecords',
    summary: 'The records to publish when mail leaves by one destination',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ destination_id: id.optional() }),
    response: domainRecordsShape,
    async handle({ scope, params, query }) {
      const records = await core.sendingDomains.recordsFor(scope, params.id, query.destination_id)
      return { data: records.map(toWireRecord) }
    },
  }),
]

const writing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/domains',
    operationId: 'createDomain',
    summary: 'Register a sending domain and make its DKIM keys',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['conflict'],
    body: newDomainBody,
    response: domainShape,
    examples: { body: { domain: 'example.ch' } },
    handle: async ({ scope, body }) =>
      toWireDomain(await core.sendingDomains.create(scope, { domain: body.domain, ed25519: body.ed25519 ?? false })),
  }),
  operation({
    method: 'POST',
    path: '/v1/domains/{id}/verify',
    operationId: 'verifyDomain',
    summary: 'Look the records up in DNS, and sign with keys that are published',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: domainShape,
    handle: async ({ scope, params }) => toWireDomain(await core.sendingDomains.verify(scope, params.id)),
  }),
  operation({
    method: 'POST',
    path: '/v1/domains/{id}/rotate-dkim',
    operationId: 'rotateDomainKeys',
    summary: 'Make new DKIM keys, which sign as soon as they are published and verified',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: domainShape,
    handle: async ({ scope, params }) => toWireDomain(await core.sendingDomains.rotate(scope, params.id)),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/domains/{id}',
    operationId: 'deleteDomain',
    summary: 'Delete a sending domain; its mail is signed no more',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.sendingDomains.remove(scope, params.id),
  }),
]
