/** Event webhooks, composed: endpoints, what is on its way to them, tests, and who sends. */
import { formTarget } from '#core/forms/notifications/form-webhook.ts'
import { routeTarget } from '#core/inbound-routes/route.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { DeliveryAttempts } from '#core/webhooks/sending/attempts.ts'
import { Deliveries } from '#core/webhooks/sending/deliveries.ts'
import { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import { Sender } from '#core/webhooks/sending/sender.ts'
import { TestDeliveries } from '#core/webhooks/endpoints/test-delivery.ts'
import { Webhooks } from '#core/webhooks/endpoints/webhooks.ts'
import { guardedPost } from '../../protocols/outbound/clients.ts'
import type { WebhookCore } from './composed.ts'
import { broke, type Composition } from './parts.ts'

/** What has webhooks of its own, beside endpoints. */
const targets = [routeTarget, formTarget]

export function webhookCore(composition: Composition): WebhookCore {
  const { get, config, metrics, replace } = composition
  const core = get('core')
  const { clock } = core
  const guard = addressGuard(config.outbound.allow.webhooks)
  const resolver = get('resolver')
  const sender = new Sender({ ...core, post: guardedPost({ resolver, clock, guard, trusted: replace.trusted ?? [] }) })
  const webhooks = new Webhooks({ ...core, resolver, guard })
  const parts = { ...core, onError: broke(composition, 'a webhook delivery') }
  const onAttempted = (result: string): void => metrics.webhookAttempted(result)
  const dispatcher = new Dispatcher({ ...parts, attempts: new DeliveryAttempts({ ...parts, sender, targets, onAttempted }) })
  metrics.watch('webhooks_active', 'Webhook deliveries under way.', () => dispatcher.active)
  return {
    webhooks,
    webhookDeliveries: new Deliveries({ ...core, targets }),
    webhookTests: new TestDeliveries({ clock, webhooks, sender }),
    webhookDispatcher: dispatcher,
  }
}
