/** Event webhooks of a daemon, and real HTTP receivers on loopback; time and mail providers are played. */
import type { ExecutionContext } from 'ava'
import { webhookDeliveries, type WebhookDelivery } from '#core/webhooks/delivery.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import type { WebhookEventType } from '#core/webhooks/endpoint.ts'
import type { WebhookRequest } from '#core/webhooks/endpoints/webhooks.ts'
import { Change } from '#store/change.ts'
import { newTraceId } from '#store/ids.ts'
import type { WebhookCore } from '../../../daemon/composition/composed.ts'
import { WebhookReceiver, type ReceiverOptions } from '../../support/web/webhook-receiver.ts'
import { houseOf, organizationId, projectId, principal, until, type House, type HouseOptions } from '../house.ts'
import { T } from '../../../daemon/composition/parts.ts'

export const address = 'anna@example.net'

/** A house with what carries its webhooks out; another one stands for the next process. */
export class WebhookRig {
  readonly house: House
  readonly core: WebhookCore
  /** Addresses by name, as DNS has them now. */
  readonly names: Map<string, readonly string[]>

  constructor(house: House, names: Map<string, readonly string[]>) {
    this.house = house
    this.names = names
    this.core = house.part(T.Webhooks)
  }

  /** The process dies, and another one starts on the same store. */
  async crash(): Promise<WebhookRig> {
    const next = new WebhookRig(await this.house.crash(), this.names)
    await next.core.webhookDispatcher.start()
    return next
  }

  async endpoint(url: string, changes: Partial<WebhookRequest> = {}): Promise<{ readonly id: string; readonly secret: string }> {
    const { endpoint, secret } = await this.core.webhooks.create(principal, { name: 'Shop', targetUrl: url, eventTypes: [], ...changes })
    return { id: endpoint.id, secret }
  }

  /** Events of a message, one for each recipient. */
  async announce(
    recipients: readonly string[] = [address],
    { type = 'failed', project = projectId }: { readonly type?: WebhookEventType; readonly project?: string } = {},
  ): Promise<string> {
    const { database, policies, clock } = this.house
    const { webhooks } = await policies.of(organizationId)
    const id = newTraceId()
    const told = recipients.map((one) => ({ address: one, status: 'failed' as const }))
    const trace = { id, projectId: project, messageId: 'm@example.com', destinationId: 'dst_1', recipients: told }
    const change = new Change()
    for (const recipient of recipients)
      announce(change, webhooks, { organizationId, type, trace, recipient, reason: 'Because.', at: clock.now() })
    await database.commit(change)
    return id
  }

  /** Oldest first. */
  async deliveries(): Promise<WebhookDelivery[]> {
    const rows = await this.house.database.all(webhookDeliveries, { organizationId })
    return rows.map(({ record }) => record)
  }

  async delivery(): Promise<WebhookDelivery> {
    const [one, ...others] = await this.deliveries()
    if (!one || others.length > 0) throw new Error('there is not one delivery')
    return one
  }

  /** Lets time pass, and what is due then be done. */
  async pass(ms: number): Promise<void> {
    this.house.clock.advance(ms)
    await this.core.webhookDispatcher.idle()
  }

  async reaches(status: WebhookDelivery['status'], count = 1): Promise<void> {
    await until(
      `${count} deliveries are ${status}`,
      async () => (await this.deliveries()).filter((one) => one.status === status).length === count,
    )
  }

  problems(): Promise<readonly string[]> {
    return this.house.problems()
  }
}

/** With the dispatcher running unless it is left to the test. */
export async function webhookRig(t: ExecutionContext, options: HouseOptions & { readonly isIdle?: boolean } = {}): Promise<WebhookRig> {
  const names = new Map<string, readonly string[]>()
  const resolver = { resolve4: (name: string) => Promise.resolve(names.get(name) ?? []), resolve6: () => Promise.resolve([]) }
  const env = { POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32' }
  const rig = new WebhookRig(await houseOf(t, { resolver, env, ...options }), names)
  if (!options.isIdle) await rig.core.webhookDispatcher.start()
  return rig
}

export async function receiverOf(t: ExecutionContext, options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver(options).listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  return receiver
}
