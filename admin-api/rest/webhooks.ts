/** Event webhooks: endpoints, their secrets, what became of each event, and tests. Spec "POST /v1/webhooks", "Other webhook endpoints". */
import * as z from 'zod'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
import {
  mintedWebhookEndpointShape,
  newWebhookEndpointBody,
  toNewWebhookEndpoint,
  toWebhookEndpointChanges,
  toWireMintedWebhookEndpoint,
  toWireWebhookAttempt,
  toWireWebhookAttemptDetail,
  toWireWebhookEndpoint,
  toWireWebhookTest,
  webhookAttemptDetailShape,
  webhookAttemptFilters,
  webhookAttemptShape,
  webhookEndpointChangesBody,
  webhookEndpointShape,
  webhookTestBody,
  webhookTestShape,
} from '../wire/webhook.ts'
import type { RestCore } from './core.ts'

const tags = ['webhooks']

export const webhookOperations = (core: RestCore): readonly Operation[] => [
  ...reading(core),
  ...minting(core),
  ...changing(core),
  ...attempts(core),
  ...asking(core),
]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'List webhook endpoints, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(webhookEndpointShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.webhooks.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireWebhookEndpoint), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/webhooks/{id}',
    operationId: 'readWebhook',
    summary: 'Read a webhook endpoint',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: webhookEndpointShape,
    handle: async ({ scope, params }) => toWireWebhookEndpoint(await core.webhooks.get(scope, params.id)),
  }),
]

const minting = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Make a webhook endpoint',
    description: 'Events of the project are sent there from now on. The secret is in this answer only.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    body: newWebhookEndpointBody,
    response: mintedWebhookEndpointShape,
    examples: { body: { name: 'Shop', target_url: 'https://shop.example.ch/mail-events', event_types: ['bounced', 'complained'] } },
    async handle({ scope, body }) {
      return toWireMintedWebhookEndpoint(await core.webhooks.create(scope, toNewWebhookEndpoint(body)))
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/webhooks/{id}/rotate-secret',
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook endpoint',
    description: 'Every attempt from now on is signed with the new one, which is in this answer only; the old one verifies nothing more.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: mintedWebhookEndpointShape,
    handle: async ({ scope, params }) => toWireMintedWebhookEndpoint(await core.webhooks.rotate(scope, params.id)),
  }),
]

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    operationId: 'updateWebhook',
    summary: 'Change a webhook endpoint',
    description: 'Only the fields that are given change. With project_id it moves to another project, with paused it is paused or resumed.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: webhookEndpointChangesBody,
    response: webhookEndpointShape,
    async handle({ scope, params, body }) {
      return toWireWebhookEndpoint(await core.webhooks.update(scope, params.id, toWebhookEndpointChanges(body)))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook endpoint with its attempts; twice is the same as once',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.webhooks.remove(scope, params.id),
  }),
]

const attemptsListed = 'A row is one event for one endpoint, however often it was tried. A page can be short and still have a next one.'

const attempts = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/webhooks/{id}/attempts',
    operationId: 'listWebhookAttempts',
    summary: 'List what was sent to a webhook endpoint, the newest first',
    description: attemptsListed,
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject(webhookAttemptFilters),
    response: pageOf(webhookAttemptShape),
    async handle({ scope, params, query }) {
      const page = await core.webhookDeliveries.list(scope, { ...query, endpointId: params.id })
      return { data: page.rows.map(toWireWebhookAttempt), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/webhooks/attempts',
    operationId: 'listAllWebhookAttempts',
    summary: 'List what was sent to any webhook endpoint, the newest first',
    description: attemptsListed,
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({ ...webhookAttemptFilters, endpoint_id: id.optional(), trace_id: id.optional(), project: pagingFields.project }),
    response: pageOf(webhookAttemptShape),
    async handle({ scope, query: { endpoint_id, trace_id, project, ...filter } }) {
      const page = await core.webhookDeliveries.list(scope, { ...filter, endpointId: endpoint_id, traceId: trace_id, projectId: project })
      return { data: page.rows.map(toWireWebhookAttempt), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/webhooks/attempts/{id}',
    operationId: 'readWebhookAttempt',
    summary: 'Read what was sent, and what the receiver said each time',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: webhookAttemptDetailShape,
    handle: async ({ scope, params }) => toWireWebhookAttemptDetail(await core.webhookDeliveries.get(scope, params.id)),
  }),
]

const asking = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/webhooks/attempts/{id}/redeliver',
    operationId: 'redeliverWebhookAttempt',
    summary: 'Send an event again, whatever came of it before',
    description: 'At once, under the same delivery id, and with a new schedule of retries; what was parked is not any more.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: webhookAttemptShape,
    handle: async ({ scope, params }) => toWireWebhookAttempt(await core.webhookDeliveries.redeliver(scope, params.id)),
  }),
  operation({
    method: 'POST',
    path: '/v1/webhooks/{id}/test',
    operationId: 'testWebhook',
    summary: 'Send a made-up event to a webhook endpoint now, and see what the receiver says',
    description: 'It is signed like any other, has `"test": true` in it, and is sent once. Nothing of it is kept.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'rate_limit_exceeded'],
    params: idParams,
    body: webhookTestBody,
    response: webhookTestShape,
    async handle({ scope, params, body, signal }) {
      const result = await core.webhookTests.run(scope, params.id, body.event_type, signal)
      signal.throwIfAborted()
      return toWireWebhookTest(result)
    },
  }),
]
