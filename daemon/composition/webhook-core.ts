/** Composes event webhooks: endpoints, deliveries, tests and the sender. */
import { publicUrl } from '#config/settings/load.ts'
import { reportedCall } from '#core/activity.ts'
import { alertTarget } from '#core/alerts/channels/delivery-target.ts'
import { formTarget } from '#core/forms/notifications/form-webhook.ts'
import { routeTarget } from '#core/inbound-routes/route.ts'
import { DeliveryAttempts, type WebhookAttempted } from '#core/webhooks/sending/attempts.ts'
import { Deliveries } from '#core/webhooks/sending/deliveries.ts'
import { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import { Sender } from '#core/webhooks/sending/sender.ts'
import { TestDeliveries } from '#core/webhooks/endpoints/test-delivery.ts'
import { Webhooks } from '#core/webhooks/endpoints/webhooks.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { guardedPost } from '../../protocols/outbound/clients.ts'
import { makeSelfSignedRsa } from '../certificates/self-signed.ts'
import type { WebhookCore } from './composed.ts'
import { broke, guardOf, type Composition } from './parts.ts'

export function webhookCore(composition: Composition): WebhookCore {
  const { get, config, metrics, replace } = composition
  const core = get('core')
  const { clock } = core
  /** Sources of webhooks in addition to endpoints. */
  const targets = [routeTarget, formTarget, alertTarget(core, get('alertBook'))]
  const guard = guardOf(composition, config.outbound.allow.webhooks)
  const resolver = get('resolver')
  const baseUrl = publicUrl(config, config.http.listen)
  const post = reportedCall(get('activity'), 'webhook delivery', guardedPost({ resolver, clock, guard, trusted: replace.trusted ?? [] }))
  const sender = new Sender({ ...core, baseUrl, post })
  const webhooks = new Webhooks({ ...core, resolver, guard, makeCertificate: makeSelfSignedRsa })
  const parts = { ...core, readSubject: decodeEncodedWords, onError: broke(composition, 'a webhook delivery') }
  const onAttempted = (attempted: WebhookAttempted): void => get('observer').webhookAttempted(attempted)
  const dispatcher = new Dispatcher({ ...parts, attempts: new DeliveryAttempts({ ...parts, sender, targets, onAttempted }) })
  metrics.watch('webhooks_active', 'Webhook deliveries in progress.', () => dispatcher.active)
  return {
    webhooks,
    webhookDeliveries: new Deliveries({ ...core, targets }),
    webhookTests: new TestDeliveries({ ...core, webhooks, sender }),
    webhookDispatcher: dispatcher,
  }
}
