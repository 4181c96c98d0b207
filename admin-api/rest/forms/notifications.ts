/** Recipients of notifications about submissions of a form, by mail and by webhook. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import type { ShownNotifications } from '#core/forms/notifications/notifications.ts'
import { webhookTest } from '../../wire/feedback/webhook.ts'
import { notifications, notificationsInput, toOrder } from '../../wire/forms/notifications.ts'
import type { RestCore } from '../rest-core.ts'

const tag = {
  ETag: { description: 'Identifies the revision, for If-Match.', of: ({ revision }: ShownNotifications) => `"${revision}"` },
}
const forms = resource('/v1/forms', { name: 'Form', tags: ['forms'], feature: 'forms', graphql: true })

export const notificationActions: readonly Action<RestCore>[] = [
  forms.readOf('notifications', {
    id: 'getFormNotifications',
    summary: 'Get the notifications of a form',
    output: notifications,
    http: { headers: tag },
    run: ({ core, principal }, { id }) => core.forms.notifications.get(principal, id),
  }),
  forms.change({
    id: 'setFormNotifications',
    summary: 'Set the notifications of a form',
    description:
      'Replaces all notifications. A recipient outside the organization first receives a mail with a confirmation link, and ' +
      'notifications after confirming. A recipient that is removed and added again must confirm again. Mails use the routing of ' +
      'the project, as traces with the door `form_notification`. Spam triggers no notifications until it is marked as not spam. ' +
      'The response that first sets `webhook_url` contains `webhook_secret`. With the header `If-Match`, the request is refused ' +
      'with `conflict` if the notifications have changed since.',
    errors: ['not_found', 'conflict', 'rate_limit_exceeded'],
    input: notificationsInput,
    output: notifications,
    examples: { input: { recipients: [{ email: 'team@example.ch', digest: 'daily' }], reply_to_field: 'email' } },
    http: { method: 'PUT', path: '/v1/forms/{id}/notifications', headers: tag, from: { if_match: { header: 'If-Match' } } },
    run: ({ core, principal }, { id, ifMatch, ...order }) => core.forms.notifications.save(principal, id, toOrder(order), ifMatch),
  }),
  forms.act('notifications/test', {
    id: 'testFormWebhook',
    summary: 'Test the webhook of a form',
    description:
      'Sends a sample submission to `webhook_url` once and returns the response of the receiver. It is signed as usual and ' +
      'contains `"test": true`; its answers match the published version. It is not stored, and no mail is sent.',
    errors: ['not_found', 'conflict', 'rate_limit_exceeded'],
    output: webhookTest,
    async run({ core, principal, signal }, { id }) {
      const result = await core.forms.webhookTests.run(principal, id, signal)
      signal.throwIfAborted()
      return result
    },
  }),
  forms.act('notifications/rotate-secret', {
    id: 'rotateFormWebhookSecret',
    summary: 'Rotate the webhook secret of a form',
    description: 'The next attempt is signed with the new secret. Only this response contains it.',
    errors: ['not_found', 'conflict'],
    output: notifications,
    run: ({ core, principal }, { id }) => core.forms.notifications.rotateSecret(principal, id),
  }),
]
