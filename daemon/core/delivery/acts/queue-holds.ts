/** Standing holds: set with a reason, listed, and lifted, which releases what they held. */
import type { Page } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { actorOf } from '../../writes/audit.ts'
import { must } from '../../writes/transact.ts'
import type { ActRequester, QueueActs } from './queue-acts.ts'
import type { CountedAct } from './queue-act.ts'
import { isOperators, queueHolds, type HoldFilter, type QueueHold } from '../../routing/queue-hold.ts'

export interface HoldRequest {
  readonly filter: HoldFilter
  readonly reason?: string | undefined
}

/** Each is looked at whenever a message has its turn. */
const maxHolds = 100

export class QueueHolds implements List<OfProject, QueueHold> {
  readonly #options: Core & { readonly acts: QueueActs }

  constructor(options: Core & { readonly acts: QueueActs }) {
    this.#options = options
  }

  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<QueueHold>> {
    return listReachable(this.#options, queueHolds, principal, query)
  }

  /** Holds what waits, and what comes. Throws `not_found` for what the filter names, and `conflict` when there are too many. */
  async create(requester: ActRequester, { filter, reason }: HoldRequest): Promise<QueueHold> {
    const { database, acts, audit, clock } = this.#options
    const { principal, actor = actorOf(principal) } = requester
    const { organizationId } = principal
    const id = database.newId('qhl', clock.now())
    let made: QueueHold | undefined
    await acts.createWhole(requester, { act: 'hold', filter, reason, ofHold: id }, async (change, act) => {
      if ((await database.all(queueHolds, { organizationId })).length >= maxHolds)
        throw new Refusal('conflict', `There are ${maxHolds} standing holds; lift one, or set a wider one.`)
      const { acceptedBefore: _, ...kept } = act.filter
      made = {
        ...{ id, projectId: principal.projectId, bound: principal.bound, filter: kept, reason: reason ?? null },
        ...{ by: { kind: actor.kind, id: actor.id }, actId: act.id, createdAt: clock.now() },
      }
      change.insert(queueHolds, organizationId, made)
      const projectId = principal.bound ? principal.projectId : filter.projectId
      audit.record(change, { organizationId, actor, act: 'queue.hold_set', target: id, projectId, details: { reason: made.reason } })
    })
    if (!made) throw new Error('the hold was not written')
    return made
  }

  /** Lifts it, and releases what it held: the act that does so. Throws `not_found`, and `insufficient_scope` for one of the operator. */
  async release(requester: ActRequester, id: string): Promise<CountedAct> {
    const { database, acts, audit } = this.#options
    const { principal, actor = actorOf(principal) } = requester
    const { organizationId } = principal
    return acts.createWhole(requester, { act: 'release', filter: { heldBy: id }, ofHold: id }, async (change) => {
      const stored = await must(database, queueHolds, principal, id)
      if (isOperators(stored.record) && actor.kind !== 'operator')
        throw new Refusal('insufficient_scope', 'The operator of the service has set this hold, and lifts it.')
      change.remove(queueHolds, organizationId, stored)
      const projectId = queueHolds.projectOf(stored.record) || undefined
      audit.record(change, { organizationId, actor, act: 'queue.hold_lifted', target: id, projectId, details: {} })
    })
  }
}
