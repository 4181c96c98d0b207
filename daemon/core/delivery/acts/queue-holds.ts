/** Standing holds: set with a reason, listed, and released together with the messages they hold. */
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

/** Every hold is checked at each message's turn. */
const maxHolds = 100

export class QueueHolds implements List<OfProject, QueueHold> {
  readonly #options: Core & { readonly acts: QueueActs }

  constructor(options: Core & { readonly acts: QueueActs }) {
    this.#options = options
  }

  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<QueueHold>> {
    return listReachable(this.#options, queueHolds, principal, query)
  }

  /** Holds waiting and future messages. Throws `not_found` for ids in the filter, and `conflict` if the limit of holds is reached. */
  async create(requester: ActRequester, { filter, reason }: HoldRequest): Promise<QueueHold> {
    const { database, acts, audit, clock } = this.#options
    const { principal, actor = actorOf(principal) } = requester
    const { organizationId } = principal
    const id = database.newId('qhl', clock.now())
    let made: QueueHold | undefined
    await acts.createWhole(requester, { act: 'hold', filter, reason, ofHold: id }, async (change, act) => {
      if ((await database.all(queueHolds, { organizationId })).length >= maxHolds)
        throw new Refusal(
          'conflict',
          `The limit of ${maxHolds} standing holds is reached. Release a hold, or replace several holds by one with a wider filter.`,
        )
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

  /**
   * Releases the hold and its messages. Returns the act that does so. Throws `not_found`, and `insufficient_scope` for a hold of the
   * operator.
   */
  async release(requester: ActRequester, id: string): Promise<CountedAct> {
    const { database, acts, audit } = this.#options
    const { principal, actor = actorOf(principal) } = requester
    const { organizationId } = principal
    return acts.createWhole(requester, { act: 'release', filter: { heldBy: id }, ofHold: id }, async (change) => {
      const stored = await must(database, queueHolds, principal, id)
      if (isOperators(stored.record) && actor.kind !== 'operator')
        throw new Refusal('insufficient_scope', 'The operator of the service has set this hold. Only the operator can release it.')
      change.remove(queueHolds, organizationId, stored)
      const projectId = queueHolds.projectOf(stored.record) || undefined
      audit.record(change, { organizationId, actor, act: 'queue.hold_lifted', target: id, projectId, details: {} })
    })
  }
}
