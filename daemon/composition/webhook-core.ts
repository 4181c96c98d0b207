/** Event webhooks, composed: endpoints, what is on its way to them, tests, and who sends. */
import type { SecretBox } from '#core/access/secret-box.ts'
import { Audit } from '#core/writes/audit.ts'
import type { Clock } from '#core/clock.ts'
import { routeTarget } from '#core/inbound-routes/route.ts'
import { addressGuard, type AllowedRange } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import { DeliveryAttempts } from '#core/webhooks/sending/attempts.ts'
import { Deliveries } from '#core/webhooks/sending/deliveries.ts'
import { Dispatcher } from '#core/webhooks/sending/dispatcher.ts'
import { Sender } from '#core/webhooks/sending/sender.ts'
import type { WebhookSettingsSource } from '#core/webhooks/webhook-settings.ts'
import { TestDeliveries } from '#core/webhooks/endpoints/test-delivery.ts'
import { Webhooks } from '#core/webhooks/endpoints/webhooks.ts'
import type { Database } from '#store/database.ts'
import type { Metrics } from '../observability/metrics.ts'
import { guardedPost } from '../../protocols/outbound/clients.ts'

export interface WebhookParts {
  readonly database: Database
  readonly policies: WebhookSettingsSource
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly writes: SettingWrites
  readonly resolver: Resolver
  /** What besides the public internet may be sent to. */
  readonly allowed: readonly AllowedRange[]
  /** Certificates in PEM that are trusted besides the well-known ones. */
  readonly trusted?: readonly string[] | undefined
  readonly onError: (error: unknown, id: string) => void
  readonly metrics?: Pick<Metrics, 'watch' | 'webhookAttempted'>
}

export interface WebhookCore {
  readonly webhooks: Webhooks
  readonly webhookDeliveries: Deliveries
  readonly webhookTests: TestDeliveries
  readonly webhookDispatcher: Dispatcher
}

/** What has webhooks of its own, beside endpoints. */
const targets = [routeTarget]

export function webhookCore({ allowed, trusted = [], metrics, ...parts }: WebhookParts): WebhookCore {
  const guard = addressGuard(allowed)
  const sender = new Sender({ ...parts, post: guardedPost({ ...parts, guard, trusted }) })
  const webhooks = new Webhooks({ ...parts, guard })
  const onAttempted = metrics && ((result: string): void => metrics.webhookAttempted(result))
  const dispatcher = new Dispatcher({ ...parts, attempts: new DeliveryAttempts({ ...parts, sender, targets, onAttempted }) })
  metrics?.watch('webhooks_active', 'Webhook deliveries under way.', () => dispatcher.active)
  return {
    webhooks,
    webhookDeliveries: new Deliveries({ ...parts, targets, audit: new Audit(parts) }),
    webhookTests: new TestDeliveries({ clock: parts.clock, webhooks, sender }),
    webhookDispatcher: dispatcher,
  }
}
