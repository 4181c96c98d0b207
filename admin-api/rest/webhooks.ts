/** Event webhooks: endpoints, their secrets, what became of each event, and tests. Spec "POST /v1/webhooks", "Other webhook endpoints". */
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { project } from '../wire/paging.ts'
import { id } from '../wire/text.ts'
import {
  mintedWebhookEndpoint,
  newWebhookEndpoint,
  webhookAttempt,
  webhookAttemptDetail,
  webhookAttemptFilter,
  webhookEndpoint,
  webhookEndpointChanges,
  webhookTest,
  webhookTestInput,
} from '../wire/webhook.ts'
import type { RestCore } from './core.ts'

const tags = ['webhooks']
const endpoints = resource('/v1/webhooks', { name: 'Webhook', tags, feature: 'webhooks' })
const attempts = resource('/v1/webhooks/attempts', { name: 'WebhookAttempt', tags, feature: 'webhooks' })

export const webhookActions = (core: RestCore): readonly Action[] => [...endpointActions(core), ...attemptActions(core), testing(core)]

const endpointActions = ({ webhooks }: RestCore): readonly Action[] => [
  endpoints.list({
    summary: 'List webhook endpoints, the newest first',
    item: webhookEndpoint,
    run: ({ principal }, page) => webhooks.list(principal, page),
  }),
  endpoints.read({
    summary: 'Read a webhook endpoint',
    output: webhookEndpoint,
    run: ({ principal }, { id }) => webhooks.get(principal, id),
  }),
  endpoints.create({
    summary: 'Make a webhook endpoint',
    description: 'Events of the project are sent there from now on. The secret is in this answer only.',
    input: newWebhookEndpoint,
    output: mintedWebhookEndpoint,
    examples: { input: { name: 'Shop', target_url: 'https://shop.example.ch/mail-events', event_types: ['bounced', 'complained'] } },
    run: ({ principal }, endpoint) => webhooks.create(principal, endpoint),
  }),
  endpoints.act('rotate-secret', {
    summary: 'Replace the secret of a webhook endpoint',
    description: 'Every attempt from now on is signed with the new one, which is in this answer only; the old one verifies nothing more.',
    output: mintedWebhookEndpoint,
    run: ({ principal }, { id }) => webhooks.rotate(principal, id),
  }),
  endpoints.change({
    summary: 'Change a webhook endpoint',
    description: 'Only the fields that are given change. With project_id it moves to another project, with paused it is paused or resumed.',
    input: webhookEndpointChanges,
    output: webhookEndpoint,
    run: ({ principal }, { id, ...changes }) => webhooks.update(principal, id, changes),
  }),
  endpoints.remove({
    summary: 'Delete a webhook endpoint with its attempts; twice is the same as once',
    errors: ['conflict'],
    run: ({ principal }, { id }) => webhooks.remove(principal, id),
  }),
]

const listed = 'A row is one event for one endpoint, however often it was tried. A page can be short and still have a next one.'

const attemptActions = ({ webhookDeliveries: deliveries }: RestCore): readonly Action[] => [
  endpoints.listOf('attempts', {
    summary: 'List what was sent to a webhook endpoint, the newest first',
    description: listed,
    filter: webhookAttemptFilter,
    item: webhookAttempt,
    run: ({ principal }, { id: endpointId, ...page }) => deliveries.list(principal, { ...page, endpointId }),
  }),
  attempts.list({
    id: 'listAllWebhookAttempts',
    summary: 'List what was sent to any webhook endpoint, the newest first',
    description: listed,
    filter: { ...webhookAttemptFilter, endpoint_id: id.optional(), trace_id: id.optional(), project },
    item: webhookAttempt,
    run: ({ principal }, page) => deliveries.list(principal, page),
  }),
  attempts.read({
    summary: 'Read what was sent, and what the receiver said each time',
    output: webhookAttemptDetail,
    run: ({ principal }, { id }) => deliveries.get(principal, id),
  }),
  attempts.act('redeliver', {
    summary: 'Send an event again, whatever came of it before',
    description: 'At once, under the same delivery id, and with a new schedule of retries; what was parked is not any more.',
    output: webhookAttempt,
    run: ({ principal }, { id }) => deliveries.redeliver(principal, id),
  }),
]

const testing = ({ webhookTests }: RestCore): Action =>
  endpoints.act('test', {
    summary: 'Send a made-up event to a webhook endpoint now, and see what the receiver says',
    description: 'It is signed like any other, has `"test": true` in it, and is sent once. Nothing of it is kept.',
    errors: ['not_found', 'rate_limit_exceeded'],
    input: webhookTestInput,
    output: webhookTest,
    http: { emptyBody: { event_type: 'delivered' } },
    async run({ principal, signal }, { id, eventType }) {
      const result = await webhookTests.run(principal, id, eventType, signal)
      signal.throwIfAborted()
      return result
    },
  })
