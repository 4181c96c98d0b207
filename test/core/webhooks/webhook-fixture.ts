/** Event webhooks of a daemon, and real HTTP receivers on loopback; time and mail providers are replaced. */
import type { ExecutionContext } from 'ava'
import { webhookDeliveries, type WebhookDelivery } from '#core/webhooks/delivery.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import type { WebhookEventType } from '#core/webhooks/endpoint.ts'
import type { WebhookRequest } from '#core/webhooks/endpoints/webhooks.ts'
import { Change } from '#store/change.ts'
import { newTraceId } from '#store/ids.ts'
import type { WebhookCore } from '../../../daemon/composition/composed.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture, type CoreFixtureOptions } from '../core-fixture.ts'

export const address = 'anna@example.net'

/** A fixture with the webhook parts of a daemon. A second fixture represents the next process. */
export class WebhookFixture {
  readonly fixture: CoreFixture
  readonly core: WebhookCore
  /** Current addresses by name, as in DNS. */
  readonly names: Map<string, readonly string[]>

  constructor(fixture: CoreFixture, names: Map<string, readonly string[]>) {
    this.fixture = fixture
    this.names = names
    this.core = fixture.part('webhooks')
  }

  /** Ends the process and starts another one on the same store. */
  async crash(): Promise<WebhookFixture> {
    const next = new WebhookFixture(await this.fixture.crash(), this.names)
    await next.core.webhookDispatcher.start()
    return next
  }

  async endpoint(url: string, changes: Partial<WebhookRequest> = {}): Promise<{ readonly id: string; readonly secret: string }> {
    const { endpoint, secret } = await this.core.webhooks.create(principal, { name: 'Shop', targetUrl: url, eventTypes: [], ...changes })
    return { id: endpoint.id, secret }
  }

  /** Announces events of a message, one for each recipient. */
  async announce(
    recipients: readonly string[] = [address],
    { type = 'failed', project = projectId }: { readonly type?: WebhookEventType; readonly project?: string } = {},
  ): Promise<string> {
    const { database, policies, clock } = this.fixture
    const { webhooks } = await policies.of(organizationId)
    const id = newTraceId()
    const told = recipients.map((one) => ({ address: one, status: 'failed' as const }))
    const trace = { id, projectId: project, messageId: 'm@example.com', destinationId: 'dst_1', recipients: told }
    const change = new Change()
    for (const recipient of recipients)
      announce(database, change, webhooks, { organizationId, type, trace, recipient, reason: 'Because.', at: clock.now() })
    await database.commit(change)
    return id
  }

  /** Returns deliveries, oldest first. */
  async deliveries(): Promise<WebhookDelivery[]> {
    const rows = await this.fixture.database.all(webhookDeliveries, { organizationId })
    return rows.map(({ record }) => record)
  }

  async delivery(): Promise<WebhookDelivery> {
    const [one, ...others] = await this.deliveries()
    if (!one || others.length > 0) throw new Error('there is not one delivery')
    return one
  }

  /** Advances the clock and completes all due work. */
  async pass(ms: number): Promise<void> {
    this.fixture.clock.advance(ms)
    await this.core.webhookDispatcher.idle()
  }

  async reaches(status: WebhookDelivery['status'], count = 1): Promise<void> {
    await this.fixture.kv.holds(
      `${count} deliveries are ${status}`,
      async () => (await this.deliveries()).filter((one) => one.status === status).length === count,
    )
  }

  problems(): Promise<readonly string[]> {
    return this.fixture.problems()
  }

  assertSound(t: ExecutionContext): Promise<void> {
    return this.fixture.assertSound(t)
  }
}

/** Returns a fixture with a running dispatcher, unless `isIdle` is set. */
export async function webhookFixture(
  t: ExecutionContext,
  options: CoreFixtureOptions & { readonly isIdle?: boolean } = {},
): Promise<WebhookFixture> {
  const names = new Map<string, readonly string[]>()
  const resolver = { resolve4: (name: string) => Promise.resolve(names.get(name) ?? []), resolve6: () => Promise.resolve([]) }
  const env = { POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32' }
  const setup = new WebhookFixture(await coreFixture(t, { resolver, env, ...options }), names)
  if (!options.isIdle) await setup.core.webhookDispatcher.start()
  return setup
}
