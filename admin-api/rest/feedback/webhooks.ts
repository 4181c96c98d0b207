/** Event webhooks: endpoints, their secrets, the outcome of each event, and tests. Spec "POST /v1/webhooks", "Other webhook endpoints". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { project } from '../../wire/fields/paging.ts'
import { id } from '../../wire/fields/text.ts'
import {
  webhookEndpointWithSecret,
  newWebhookEndpoint,
  webhookAttempt,
  webhookAttemptDetail,
  webhookAttemptFilter,
  webhookEndpoint,
  webhookEndpointChanges,
  webhookTest,
  webhookTestInput,
} from '../../wire/feedback/webhook.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['webhooks']
const endpoints = resource('/v1/webhooks', { name: 'Webhook', tags, feature: 'webhooks' })
const attempts = resource('/v1/webhooks/attempts', { name: 'WebhookAttempt', tags, feature: 'webhooks' })

export const webhookActions = (core: RestCore): readonly Action[] => [...endpointActions(core), ...attemptActions(core), testing(core)]

const endpointActions = ({ webhooks }: RestCore): readonly Action[] => [
  endpoints.list({
    summary: 'List webhook endpoints, newest first',
    item: webhookEndpoint,
    run: ({ principal }, page) => webhooks.list(principal, page),
  }),
  endpoints.read({
    summary: 'Get a webhook endpoint',
    output: webhookEndpoint,
    run: ({ principal }, { id }) => webhooks.get(principal, id),
  }),
  endpoints.create({
    summary: 'Create a webhook endpoint',
    description: 'Events of the project are sent to the endpoint from now on. Only this response contains the secret.',
    input: newWebhookEndpoint,
    output: webhookEndpointWithSecret,
    examples: { input: { name: 'Shop', target_url: 'https://shop.example.ch/mail-events', event_types: ['bounced', 'complained'] } },
    run: ({ principal }, endpoint) => webhooks.create(principal, endpoint),
  }),
  endpoints.act('rotate-secret', {
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'Every further attempt is signed with the new secret, which only this response contains. The old secret stops verifying immediately.',
    output: webhookEndpointWithSecret,
    run: ({ principal }, { id }) => webhooks.rotate(principal, id),
  }),
  endpoints.change({
    summary: 'Update a webhook endpoint',
    description:
      'Fields that are left out keep their values. `project_id` moves the endpoint to another project; `paused` pauses or resumes it.',
    input: webhookEndpointChanges,
    output: webhookEndpoint,
    run: ({ principal }, { id, ...changes }) => webhooks.update(principal, id, changes),
  }),
  endpoints.remove({
    summary: 'Delete a webhook endpoint with its attempts',
    errors: ['conflict'],
    run: ({ principal }, { id }) => webhooks.remove(principal, id),
  }),
]

const listed =
  'An entry is one event for one endpoint, regardless of the number of attempts. A page can contain fewer entries than `limit`, even none, and still have a next one.'

const attemptActions = ({ webhookDeliveries: deliveries }: RestCore): readonly Action[] => [
  endpoints.listOf('attempts', {
    summary: 'List the attempts of a webhook endpoint, newest first',
    description: listed,
    filter: webhookAttemptFilter,
    item: webhookAttempt,
    run: ({ principal }, { id: endpointId, ...page }) => deliveries.list(principal, { ...page, endpointId }),
  }),
  attempts.list({
    id: 'listAllWebhookAttempts',
    summary: 'List webhook attempts, newest first',
    description: listed,
    filter: { ...webhookAttemptFilter, endpoint_id: id.optional(), trace_id: id.optional(), project },
    item: webhookAttempt,
    run: ({ principal }, page) => deliveries.list(principal, page),
  }),
  attempts.read({
    summary: 'Get a webhook attempt with the request and each response',
    output: webhookAttemptDetail,
    run: ({ principal }, { id }) => deliveries.get(principal, id),
  }),
  attempts.act('redeliver', {
    summary: 'Redeliver an event',
    description:
      'The event is sent immediately, whatever its status, under the same delivery id and with a new retry schedule. A parked delivery becomes pending.',
    output: webhookAttempt,
    run: ({ principal }, { id }) => deliveries.redeliver(principal, id),
  }),
]

const testing = ({ webhookTests }: RestCore): Action =>
  endpoints.act('test', {
    summary: 'Test a webhook endpoint',
    description:
      'Sends a sample event once and returns the response of the receiver. The event is signed like any other and contains `"test": true`. It is not stored.',
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
