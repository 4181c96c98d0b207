/**
 * Runs operations on the queue (acts: hold, release, expedite, drop), in one write per message. Trace, entry and count of the act change
 * together, so that a crash leaves no message half changed or counted twice. Unfinished acts continue on start.
 */
import type { Change } from '#store/change.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { StoredJobs } from '../../stored-jobs.ts'
import { queueHolds } from '../../routing/queue-hold.ts'
import { transact } from '../../writes/transact.ts'
import { stageAct, type Applied } from './apply-act.ts'
import { actCounterKey, counterNames, openActKey, openActsKey, queueActRecords, type CountedAct, type QueueAct } from './queue-act.ts'
import { isBehind, pendingHolds, rangeOf, waitingOf, walkQueue, type QueueCursor, type QueueWalk, type Waiting } from './queue-walk.ts'

export interface ActRunnerOptions extends Core {
  /** Notifies the queue of an entry that becomes due. */
  readonly queued: (entry: QueueEntry) => void
  /** Called with internal errors. The act continues on the next start. */
  readonly onError: (error: unknown, actId: string) => void
}

/** Messages whose writes share a disk sync. */
const together = 16
/** The walk's position is stored after this number of steps without a match. */
const idleSteps = 50

interface ActWalk extends QueueWalk {
  /** True for repeated walks of the act; the first walk has counted the skipped messages. */
  readonly isAgain?: boolean
}

/** Returns the act with its current counts. */
export async function counted({ database }: Pick<Core, 'database'>, organizationId: string, act: QueueAct): Promise<CountedAct> {
  const [acted = 0, inFlight = 0, skipped = 0] = await Promise.all(
    counterNames.map((name) => database.kv.counter(pack(actCounterKey(organizationId, act.id, name)))),
  )
  return { ...act, counters: { acted, inFlight, skipped } }
}

export class ActRunner {
  readonly #options: ActRunnerOptions
  readonly #jobs: StoredJobs

  constructor(options: ActRunnerOptions) {
    this.#options = options
    const { database, onError } = options
    this.#jobs = new StoredJobs({
      database,
      onError,
      openKeys: openActsKey,
      carryOut: (organizationId, id) => this.#run(organizationId, id),
    })
  }

  /** Continues the unfinished acts of an earlier process. */
  start(): Promise<void> {
    return this.#jobs.start()
  }

  /** Starts the act, unless it is running. */
  wake(organizationId: string, id: string): void {
    this.#jobs.wake(organizationId, id)
  }

  /** Stops between two writes. Acts continue on the next start. */
  stop(): Promise<void> {
    return this.#jobs.stop()
  }

  async #run(organizationId: string, id: string): Promise<void> {
    const { database, policies } = this.#options
    const stored = await database.get(queueActRecords, { organizationId }, id)
    if (stored?.record.status !== 'running') return
    const act = stored.record
    const policy = await policies.of(organizationId)
    const walk: QueueWalk = { organizationId, policy, filter: act.filter, after: act.cursor, ...rangeOf(act.act, act.createdAt) }
    // pending holds first: the walk finds messages that are parked in the meantime
    if (walk.withPending && !act.cursor)
      for await (const found of pendingHolds(database, walk)) if ((await this.#each(act, walk, found)) === undefined) return
    if (act.filter.traceIds) await this.#each(act, walk, await waitingOf(database, walk, act.filter.traceIds))
    else {
      let acted = await this.#walk(act, walk)
      for (let walks = 1; acted !== undefined && (walks === 1 || acted > 0) && (await this.#mustWalkAgain(act, walk)); walks++)
        acted = await this.#walk(act, { ...walk, after: null, isAgain: true })
      if (acted === undefined) return
    }
    if (!this.#jobs.stopping) await this.#finish(organizationId, id)
  }

  /**
   * Decides whether the act repeats its walk until a walk changes nothing. A failover or a release can move a message to a position that
   * the walk has passed. A standing hold holds such a message at its next turn.
   */
  async #mustWalkAgain({ act, ofHold, filter, createdAt }: QueueAct, { organizationId, policy }: QueueWalk): Promise<boolean> {
    if ((act !== 'hold' && act !== 'drop') || ofHold !== undefined) return false
    if (filter.destinationId === undefined && policy.failovers.all.length > 0) return true
    const all = await this.#options.database.all(queueActRecords, { organizationId })
    return all.some(({ record }) => record.act === 'release' && (record.status === 'running' || record.updatedAt >= createdAt))
  }

  /** Walks the queue once. Returns the number of changed messages, or undefined if the act no longer runs. */
  async #walk(act: QueueAct, walk: ActWalk): Promise<number | undefined> {
    let [acted, idle] = [0, 0]
    for await (const { last, found } of walkQueue(this.#options.database, walk)) {
      if (this.#jobs.stopping) return undefined
      const meant = found.filter(({ entry }) => !act.until || !isBehind(entry, act.until))
      const done = await this.#each(act, walk, meant)
      // steps without a match rarely store the position: after a crash, repeating them is quick
      idle = meant.length === 0 ? idle + 1 : 0
      if (done === undefined || (idle % idleSteps === 0 && !(await this.#goOn(walk.organizationId, act.id, last)))) return undefined
      acted += done
      if (act.until && !isBehind(act.until, last)) break
    }
    return acted
  }

  /** Returns the number of changed messages, or undefined if the act no longer runs. */
  async #each(act: QueueAct, walk: ActWalk, found: readonly Waiting[]): Promise<number | undefined> {
    let acted = 0
    for (let at = 0; at < found.length; at += together) {
      if (this.#jobs.stopping) return undefined
      const settled = await Promise.allSettled(found.slice(at, at + together).map((one) => this.#one(act, walk, one)))
      const done = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      // writes may end in any order; the queue is notified of due entries in the order of the walk
      for (const { due } of done) if (due) this.#options.queued(due)
      for (const one of settled) if (one.status === 'rejected') throw one.reason
      if (done.some(({ applied }) => applied === 'ended')) return undefined
      acted += done.filter(({ applied }) => applied === 'acted' || applied === 'inFlight').length
    }
    return acted
  }

  /** `due`: the entry that becomes due. */
  #one(
    { id, act, filter, by, reason, ofHold }: QueueAct,
    { organizationId, isAgain = false }: ActWalk,
    { entry }: Waiting,
  ): Promise<{ readonly applied: Applied | 'ended'; readonly due?: QueueEntry | undefined }> {
    const { database, policies, clock } = this.#options
    return transact(database, { organizationId }, async (change) => {
      const job = await change.get(queueActRecords, id)
      if (job?.record.status !== 'running') return { applied: 'ended' as const }
      // the write depends on the standing hold, so that its release finds all held messages
      if (act === 'hold' && ofHold !== undefined && !(await change.get(queueHolds, ofHold))) {
        const end = { status: 'stopped', stoppedBecause: 'The standing hold was released.', updatedAt: clock.now() } as const
        stageEnd(change, { organizationId, stored: job }, end)
        return { applied: 'ended' as const }
      }
      const { webhooks } = await policies.of(organizationId)
      const done = {
        ...{ act, at: clock.now(), by: by.id === '' ? by.kind : by.id, reason, actId: act === 'hold' ? (ofHold ?? id) : id },
        ...(act === 'release' && ofHold !== undefined && { ofHold }),
        ...(by.kind === 'operator' && { isOperators: true as const }),
      }
      const staged = await stageAct(database, change, entry, { done, filter, webhooks })
      if (staged.applied === 'acted' || staged.applied === 'inFlight') change.add(actCounterKey(organizationId, id, 'acted'), 1)
      if (staged.applied === 'inFlight' || (staged.applied === 'skipped' && !isAgain))
        change.add(actCounterKey(organizationId, id, staged.applied), 1)
      return { applied: staged.applied, due: staged.entry }
    })
  }

  /** Stores the position of the walk. Returns false if the act was stopped. */
  async #goOn(organizationId: string, id: string, { destinationId, projectId, dueMs, traceId }: QueueCursor): Promise<boolean> {
    const { database, clock } = this.#options
    return transact(database, { organizationId }, async (change) => {
      const stored = await change.get(queueActRecords, id)
      if (stored?.record.status !== 'running') return false
      const cursor = { destinationId, projectId, dueMs, traceId }
      change.replace(queueActRecords, organizationId, stored, { ...stored.record, cursor, updatedAt: clock.now() })
      return true
    })
  }

  async #finish(organizationId: string, id: string): Promise<void> {
    const { database, clock } = this.#options
    await transact(database, { organizationId }, async (change) => {
      const stored = await change.get(queueActRecords, id)
      if (stored?.record.status !== 'running') return
      stageEnd(change, { organizationId, stored }, { status: 'finished', updatedAt: clock.now() })
    })
  }
}

/** Adds the end of the act to the write. */
export function stageEnd(
  change: Change,
  { organizationId, stored }: { readonly organizationId: string; readonly stored: Stored<QueueAct> },
  end: Pick<QueueAct, 'status' | 'updatedAt'> & Partial<Pick<QueueAct, 'stoppedBecause'>>,
): QueueAct {
  const act: QueueAct = { ...stored.record, ...end, cursor: null }
  change.replace(queueActRecords, organizationId, stored, act).delete(openActKey(organizationId, act.id))
  return act
}
