/** Lists deliveries, returns a delivery with its attempts, and starts redeliveries. Spec "Other webhook endpoints". */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery, sieve } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { actorOf } from '../../writes/audit.ts'
import { Refusal } from '../../refusals.ts'
import {
  addDue,
  loggedAttempts,
  removeDue,
  webhookDeliveries,
  type DeliveryStatus,
  type DeliveryType,
  type LoggedAttempt,
  type WebhookDelivery,
} from '../delivery.ts'
import { begunAgain } from './retry-schedule.ts'
import { findTarget, type TargetSource } from './target.ts'
import { must, transact } from '../../writes/transact.ts'

export interface DeliveriesOptions extends Core {
  /** Targets other than endpoints. */
  readonly targets?: readonly TargetSource[]
}

/** A delivery in responses. */
export interface DeliverySeen extends WebhookDelivery {
  /** The delivery is pending, but its endpoint is paused. */
  readonly paused: boolean
}

export interface DeliveryWithAttempts {
  readonly delivery: DeliverySeen
  /** The latest attempts, in order. */
  readonly attempts: readonly LoggedAttempt[]
}

export interface DeliveryFilter extends OfProject {
  readonly endpointId?: string | undefined
  readonly traceId?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly eventType?: DeliveryType | undefined
  /** Status code of the latest attempt. */
  readonly statusCode?: number | undefined
}

/** Maximum number of deliveries examined per page with a filter that has no index (event type, status code). */
const maxLooks = 1000

export class Deliveries implements List<DeliveryFilter, DeliverySeen> {
  readonly #options: DeliveriesOptions

  constructor(options: DeliveriesOptions) {
    this.#options = options
  }

  /**
   * Lists deliveries, newest first. A page can be short and still have a cursor to more deliveries. Throws `not_found` for an endpoint or
   * project outside the caller's reach.
   */
  async list(principal: Principal, { traceId, ...asked }: PageQuery & DeliveryFilter): Promise<Page<DeliverySeen>> {
    const { endpointId, status, eventType, statusCode, ...query } = asked
    if (endpointId !== undefined) await this.#requireTarget(principal, endpointId)
    const isMeant = (delivery: WebhookDelivery): boolean =>
      (endpointId === undefined || delivery.endpointId === endpointId) &&
      (status === undefined || delivery.status === status) &&
      (eventType === undefined || delivery.eventType === eventType) &&
      (statusCode === undefined || delivery.lastStatusCode === statusCode)
    const isSieved = eventType !== undefined || statusCode !== undefined
    const { rows, nextCursor } = await listReachable(this.#options, webhookDeliveries, principal, query, (project) =>
      traceId === undefined
        ? {
            index: 'listed',
            values: [endpointId ?? project ?? '', status ?? ''],
            ...(isSieved && { sieve: sieve(isMeant, undefined, maxLooks) }),
          }
        : { index: 'trace', values: [traceId], sieve: sieve(isMeant) },
    )
    return { rows: await this.#seen(principal, rows), nextCursor }
  }

  /** Returns a delivery with its stored attempts. Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<DeliveryWithAttempts> {
    const { record } = await this.#stored(principal, id)
    return {
      delivery: await this.#seenOne(principal, record),
      attempts: await loggedAttempts(this.#options.database, principal.organizationId, id),
    }
  }

  /**
   * Restarts the schedule with an immediate attempt, regardless of the status and under the same delivery id. A paused endpoint gets the
   * delivery after it is resumed.
   */
  async redeliver(principal: Principal, id: string): Promise<DeliverySeen> {
    const { database, clock, audit } = this.#options
    const { organizationId } = principal
    const next = await transact(database, principal, async (change) => {
      const stored = await change.must(webhookDeliveries, id)
      await this.#requireTarget(principal, stored.record.endpointId)
      const begun = begunAgain(stored.record, clock.now())
      removeDue(change.replace(webhookDeliveries, organizationId, stored, begun), stored.record)
      audit.record(change, {
        organizationId,
        actor: actorOf(principal),
        act: 'webhook_delivery.redelivered',
        target: id,
        projectId: begun.projectId,
        details: {},
      })
      addDue(change, { endpointId: begun.endpointId, dueMs: begun.updatedAt, id, organizationId })
      return begun
    })
    return this.#seenOne(principal, next)
  }

  /** Looks up each target once, and only for pending deliveries. */
  async #seen({ organizationId }: Principal, deliveries: readonly WebhookDelivery[]): Promise<DeliverySeen[]> {
    const { database, targets = [] } = this.#options
    const ids = new Set(deliveries.flatMap(({ endpointId, nextAttemptAt }) => (nextAttemptAt === null ? [] : [endpointId])))
    const paused = new Set<string>()
    for (const id of ids) if ((await findTarget(targets, database, { organizationId }, id))?.isPaused) paused.add(id)
    return deliveries.map((one) => ({ ...one, paused: one.nextAttemptAt !== null && paused.has(one.endpointId) }))
  }

  async #seenOne(principal: Principal, delivery: WebhookDelivery): Promise<DeliverySeen> {
    const [seen] = await this.#seen(principal, [delivery])
    if (!seen) throw new Error('a delivery without an answer')
    return seen
  }

  #stored(principal: Principal, id: string): Promise<Stored<WebhookDelivery>> {
    return must(this.#options.database, webhookDeliveries, principal, id)
  }

  async #requireTarget(principal: Principal, id: string): Promise<void> {
    const { database, targets = [] } = this.#options
    if (await findTarget(targets, database, principal, id)) return
    throw new Refusal('not_found', 'No webhook endpoint has this id.')
  }
}
