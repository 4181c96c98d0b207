/** Runs one delivery attempt: reads the message, calls the transport, applies the report, commits. */
import { Change } from '#store/change.ts'
import { dequeue, dequeueIfThere, noteBegun, putOff, queuedAt, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Destination } from '../../routing/destination.ts'
import { bouncesIn, stageBounces, bounceFacts, withBounces } from '../../feedback/apply/attempt-bounces.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { serviceRef } from '../../trace/trace-token.ts'
import { withNotice } from '../../trace/notices/due-notices.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { readAttempt, writeWhole, type AttemptRecord } from '../../trace/attempt-record.ts'
import { begunAttempt } from '../../trace/attempts.ts'
import { announceFailures } from '../../webhooks/events/announce.ts'
import { dueAt, isStopped } from '../../trace/acts/queue-acts.ts'
import { afterActs, announceDropped, obeyAct, putOffOrPark, standing } from '../acts/obey.ts'
import { holdAtTurn, holdsBack } from '../acts/hold-at-turn.ts'
import { AttemptLog, CalledOff } from './attempt-log.ts'
import type { RetryPolicy } from './backoff.ts'
import { beginScheduled } from './begin-scheduled.ts'
import { countEnded } from './count-attempt.ts'
import { expireApproval, isOfApproval } from './expire-approval.ts'
import { captureScheduled, type OnCaptured } from './capture-scheduled.ts'
import { deliverVerpCopies, takesReturnPaths } from './verp-copies.ts'
import { errorClass } from './error-class.ts'
import { failOver, afterFailover, afterSkip, skipDestination, type FailoverHealth, type Skip } from './failover.ts'
import { applyReport, applyInterruption, failedBeforeStart } from './apply-report.ts'
import type { Signer } from '../../domains/signer.ts'
import { signTrace } from './signing.ts'
import { applySuppressions } from './apply-suppressions.ts'
import { throttlingNoted } from './throttling.ts'
import type { FollowDecision } from '../../trace/approval/stage-decision.ts'
import { endpointOf, jobOf, toTarget } from './transport-target.ts'
import type { AttemptReport, DeliveryJob, RecipientReport, Transport, TransportTarget } from '../transport.ts'

/** Notified of finished attempts, for logs and metrics. */
export interface AttemptListener {
  /** `dueMs`: due time of the attempt, in milliseconds since the epoch. */
  attempted(trace: Trace, report: AttemptReport, destinationId: string, dueMs: number): void
  /** Reports an attempt during which the process ended; detected later. */
  interrupted(trace: Trace, attempt: AttemptRecord): void
}

/** Records the health of destinations from attempts. */
export interface AttemptHealth extends FailoverHealth {
  attempting(destination: Destination): void
  attempted(organizationId: string, destination: Destination, report: AttemptReport): void
}

export interface AttemptOptions extends Core {
  readonly transport: Transport
  readonly signer: Signer
  readonly retry: RetryPolicy
  readonly listener: AttemptListener
  readonly onCaptured: OnCaptured
  readonly health: AttemptHealth
  readonly random: () => number
  readonly followDecision: FollowDecision
}

/** Parts of the message that are in memory. */
export interface InMemory {
  readonly content: readonly Uint8Array[] | undefined
  /** Its trace, which may have changed since. */
  readonly trace: Stored<Trace> | undefined
  /** No earlier attempt can exist. */
  readonly fresh: boolean
}

/** Permission for one attempt from a destination's queue, which can be revoked. */
export interface Turn {
  /** Aborts the attempt. */
  readonly signal: AbortSignal
  /** Resolves with true when a further copy may begin, or false if the service stops first. */
  readonly nextCopy: () => Promise<boolean>
}

/**
 * An attempt that can be aborted externally. It clears its references at the end. Tables of busy sets and listener lists keep references to
 * removed items, which would keep the message in memory.
 */
interface InFlightAttempt {
  readonly organizationId: string
  readonly projectId: string
  abort: AbortController | undefined
  ended: Promise<unknown> | undefined
}

interface Interruption {
  readonly change: Change
  readonly trace: Trace
  readonly attempt: AttemptRecord
}

export class Attempts {
  readonly #options: AttemptOptions
  readonly #targets = new Map<string, TransportTarget>()
  readonly #inFlight = new Set<InFlightAttempt>()

  constructor(options: AttemptOptions) {
    this.#options = options
  }

  /** Makes the entry's next attempt. Returns the entry now in the queue, or undefined if the message is done. */
  async run(entry: QueueEntry, { content, trace, fresh }: InMemory, turn: Turn): Promise<QueueEntry | undefined> {
    const { database, health, clock } = this.#options
    const before = await (trace ? database.newest(traces, entry, trace) : database.get(traces, entry, entry.traceId))
    if (before && isOfApproval(entry, before.record)) return expireApproval(this.#options, entry)
    if (before && (await this.#hasMoved(entry, before.record))) return obeyAct(this.#options, entry)
    let stored = before
    const mayHaveBegun = !fresh || entry.begun !== undefined || stored?.record.begunAt !== undefined || stored?.record.verp !== undefined
    if (stored && mayHaveBegun) stored = await this.#countInterrupted(entry, stored)
    const afterUnknown = stored !== before
    if (stored && isStopped(stored.record)) return obeyAct(this.#options, entry)
    if (stored?.record.sendAt !== undefined) {
      if (stored.record.outcome !== 'relayed') return captureScheduled(this.#options, await this.#settings(entry.organizationId), entry)
      const begun = await beginScheduled(database, entry, clock.now())
      if (begun && 'moved' in begun) return begun.moved
      stored = begun
    }
    let locked: string | undefined
    if (stored?.record.status === 'queued') ({ stored, locked } = await signTrace(this.#options, entry, stored, content))
    if (!stored || stored.record.status !== 'queued') {
      await database.commit(await dequeueIfThere(database, new Change(), entry))
      return undefined
    }
    stored = await applySuppressions(this.#options, entry, stored)
    if (!stored) return undefined
    if (isStopped(stored.record)) return obeyAct(this.#options, entry)
    const settings = await this.#settings(entry.organizationId)
    if (settings.deleted.has(stored.record.projectId)) {
      await database.commit(await dequeueIfThere(database, new Change(), entry)) // deleted with its project
      return undefined
    }
    const { record } = stored
    const hold = settings.holds.find((one) => holdsBack(one, entry, record))
    if (hold) return (await holdAtTurn(this.#options, entry, hold)) ? undefined : obeyAct(this.#options, entry)
    const destination = settings.destinations.get(entry.destinationId)
    const skip = destination && skipDestination(settings, health, stored.record, destination)
    if (skip) return this.#pass(entry, stored, afterUnknown ? this.#waiting(entry, skip) : skip)
    const log = new AttemptLog(database, entry, stored, clock.now())
    return this.#breakable(entry.organizationId, stored.record.projectId, turn.signal, async (signal) => {
      const report =
        locked === undefined
          ? await this.#deliver(entry, stored.record, settings, log, content, { ...turn, signal })
          : failedBeforeStart(stored.record, 'signing_key_locked', `The DKIM key of ${locked} cannot be decrypted; rotate it.`, 'transient')
      return this.#commit(entry, stored, log, report, { settings, afterUnknown })
    }).catch((error: unknown) => {
      if (error instanceof CalledOff) return obeyAct(this.#options, entry)
      throw error
    })
  }

  /** Returns true if a hold, release or expedited retry has moved the entry in the meantime. */
  async #hasMoved(entry: QueueEntry, trace: Trace): Promise<boolean> {
    const { destinationId, dueMs } = waitingEntry(entry.organizationId, trace)
    if (destinationId === entry.destinationId && dueMs === entry.dueMs) return false
    return (await queuedAt(this.#options.database, entry)) === undefined
  }

  /** Aborts attempts of these projects, or of the whole organization. Resolves when they have ended. */
  async breakOff(organizationId: string, projectIds?: ReadonlySet<string>): Promise<void> {
    const meant = [...this.#inFlight].filter((one) => one.organizationId === organizationId && (projectIds?.has(one.projectId) ?? true))
    for (const { abort } of meant) abort?.abort()
    await Promise.allSettled(meant.flatMap(({ ended }) => (ended ? [ended] : [])))
  }

  /** Returns settings that did not change during the read. An attempt therefore either sees a deletion or is aborted by it. */
  async #settings(organizationId: string): Promise<Policy> {
    const { database, policies } = this.#options
    for (;;) {
      const generation = database.generation(organizationId)
      const settings = await policies.of(organizationId)
      if (generation === database.generation(organizationId)) return settings
    }
  }

  async #breakable<T>(
    organizationId: string,
    projectId: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const abort = new AbortController()
    const inFlight: InFlightAttempt = { organizationId, projectId, abort, ended: undefined }
    const follow = (): void => inFlight.abort?.abort(signal.reason)
    if (signal.aborted) follow()
    signal.addEventListener('abort', follow, { once: true })
    const ended = work(abort.signal)
    inFlight.ended = ended
    this.#inFlight.add(inFlight)
    try {
      return await ended
    } finally {
      this.#inFlight.delete(inFlight)
      signal.removeEventListener('abort', follow)
      inFlight.abort = inFlight.ended = undefined
    }
  }

  /** Delays failover after an interrupted attempt by the wait for an unknown outcome, because the peer may have the message. */
  #waiting({ destinationId }: QueueEntry, skip: Skip): Skip {
    return 'failover' in skip ? { to: destinationId, waitMs: this.#options.retry.unknownDelayMs } : skip
  }

  /** Moves or delays the message without an attempt. */
  async #pass(entry: QueueEntry, first: Stored<Trace>, skip: Skip): Promise<QueueEntry | undefined> {
    const { database, clock } = this.#options
    for (let stored: Stored<Trace> | undefined = first; stored?.record.status === 'queued';) {
      const now = clock.now()
      const trace =
        'failover' in skip
          ? afterSkip(stored.record, skip.failover, now)
          : { ...stored.record, destinationId: skip.to, nextAttemptAt: Math.ceil(now + skip.waitMs) }
      const change = new Change().rewrite(traces, entry.organizationId, stored, trace)
      const place = { destinationId: trace.destinationId ?? entry.destinationId, dueMs: trace.nextAttemptAt ?? now }
      const next = putOff(change, entry, { ...entry, ...place })
      if ((await database.commit(change)).ok) return next
      stored = await database.get(traces, entry, entry.traceId)
      if (stored && !(await queuedAt(database, entry))) return obeyAct(this.#options, entry) // an act on the queue moved it
    }
    await database.commit(await dequeueIfThere(database, new Change(), entry)) // canceled or deleted in the meantime
    return undefined
  }

  async #deliver(
    entry: QueueEntry,
    trace: Trace,
    settings: Policy,
    log: AttemptLog,
    content: readonly Uint8Array[] | undefined,
    { signal, nextCopy }: Turn,
  ): Promise<AttemptReport> {
    const { database, transport, health } = this.#options
    const destination = settings.destinations.get(entry.destinationId)
    if (!destination && settings.organization.deletedAt !== undefined)
      return failedBeforeStart(
        trace,
        'organization_deleted',
        'The organization was deleted before the message could be delivered.',
        'permanent',
      )
    if (!destination)
      return failedBeforeStart(
        trace,
        'destination_deleted',
        'The destination was deleted before the message could be delivered.',
        'permanent',
      )
    const target = this.#target(destination)
    if (!target)
      return failedBeforeStart(
        trace,
        'destination_misconfigured',
        'A secret of the destination cannot be decrypted with the current master key; set it again.',
        'transient',
      )
    const place = { destinationId: destination.id, ...endpointOf(target) }
    const record = (recipients?: readonly RecipientReport[]): Promise<void> => log.record(place, recipients)
    const job = jobOf(database, entry, trace, content, signal, serviceRef(this.#options.secrets, trace.id))
    const deliver = async (envelope: Partial<DeliveryJob>, begin: () => Promise<unknown>): Promise<AttemptReport> => {
      let begun: Promise<unknown> | undefined
      health.attempting(destination)
      // written during the dialog, awaited before the final dot
      const beforeFinalDot = async (known?: readonly RecipientReport[]): Promise<void> => {
        await (known ? (begun = record(known)) : (begun ??= begin()))
      }
      const report = throttlingNoted(await transport.deliver(target, { ...job, ...envelope, beforeFinalDot }))
      await Promise.resolve(begun).finally(() => health.attempted(entry.organizationId, destination, report))
      return { ...report, provider: target.provider }
    }
    if (!trace.verp || 'off' in trace.verp) return deliver({}, record)
    if (takesReturnPaths(destination)) return deliverVerpCopies(trace, { deliver, record, nextCopy })
    const report = await deliver({}, record)
    const returnPath = target.provider === 'smtp' ? trace.mailFrom : null
    return { ...report, recipients: report.recipients.map((recipient) => ({ ...recipient, returnPath })) }
  }

  async #commit(
    entry: QueueEntry,
    first: Stored<Trace>,
    log: AttemptLog,
    report: AttemptReport,
    { settings, afterUnknown }: { readonly settings: Policy; readonly afterUnknown: boolean },
  ): Promise<QueueEntry | undefined> {
    const { database, clock, retry, listener, random, health } = this.#options
    const failover = failOver(settings, health, first.record, entry.destinationId, errorClass(report))
    const now = clock.now()
    const chance = random()
    for (let stored: Stored<Trace> | undefined = first; stored; stored = await database.get(traces, entry, entry.traceId)) {
      if (stored.record.status === 'canceled') break // dropped before the attempt began
      const place = stored === first ? entry : await standing(database, entry, stored.record)
      const applied = applyReport(stored.record, report, retry, now, chance, {
        isAtOnce: failover?.isAtOnce ?? false,
        afterUnknown: failover !== undefined && afterUnknown,
      })
      const bounces = bouncesIn(stored.record, applied, report, now)
      const left = withBounces(failover && applied.status === 'queued' ? afterFailover(applied, failover) : applied, bounces)
      const change = new Change()
      const next = withNotice(change, entry.organizationId, stored.record, afterActs(left, place, now), now)
      const { recipients, milliseconds, ...seen } = report
      const trace = log.end(change, next, {
        ...seen,
        milliseconds: tenths(milliseconds),
        destinationId: entry.destinationId,
        state: recipients.some(({ verdict }) => verdict === 'unknown') ? 'unknown' : 'finished',
        endedAt: now,
        recipients,
        nextAttemptAt: dueAt(next),
        failover: failover && applied.status === 'queued' ? failover.note : undefined,
      })
      if (stored.record.held) change.replace(traces, entry.organizationId, stored, trace)
      else change.rewrite(traces, entry.organizationId, stored, trace)
      const { nextAttemptAt: dueMs, attempts } = trace
      const later = dueMs !== null && { ...entry, destinationId: trace.destinationId ?? entry.destinationId, dueMs, attempts }
      const rest = later ? putOffOrPark(change, place, later, trace) : dequeued(change, place)
      const because = report.error?.message
      announceFailures(database, change, settings.webhooks, {
        ...entry,
        before: stored.record,
        after: trace,
        at: now,
        because,
        bounces: bounceFacts(bounces),
      })
      announceDropped(database, change, settings.webhooks, { ...entry, before: stored.record, after: trace })
      await stageBounces(change, { ...settings, database, organizationId: entry.organizationId, nowMs: now }, trace, bounces)
      countEnded(change, entry, stored.record, trace, report, now)
      if ((await database.commit(change)).ok) {
        listener.attempted(trace, report, entry.destinationId, entry.dueMs)
        return rest
      }
    }
    await database.commit(await dequeueIfThere(database, log.drop(new Change()), entry)) // the trace was deleted in the meantime
    return undefined
  }

  /** Counts an attempt that began before the process ended, with an unknown outcome, and adds it to the timeline. */
  async #countInterrupted(entry: QueueEntry, first: Stored<Trace>): Promise<Stored<Trace> | undefined> {
    const { database, listener } = this.#options
    let stored: Stored<Trace> | undefined = first
    // a concurrent report may change the trace; the attempt is then counted in the new version
    while (stored?.record.attempts === first.record.attempts) {
      const found = await this.#interruption(entry, stored)
      if (!found) break
      if ((await database.commit(found.change)).ok) listener.interrupted(found.trace, found.attempt)
      stored = await database.get(traces, entry, entry.traceId)
    }
    return stored
  }

  /** Returns the write that counts an interrupted attempt, with the attempt and the new trace; undefined without such an attempt. */
  async #interruption(entry: QueueEntry, stored: Stored<Trace>): Promise<Interruption | undefined> {
    const { database } = this.#options
    const inRow = await readAttempt(database, entry.organizationId, entry.traceId, stored.record.attempts + 1)
    const attempt = inRow?.attempt ?? begunAttempt(entry, stored.record)
    if (attempt?.state !== 'started') return undefined
    const rows = inRow?.rows ?? 0
    const error = {
      code: 'interrupted',
      message: 'The process ended during this attempt; the provider may have accepted the message.',
      phase: 'unknown',
    }
    const ended = { ...attempt, state: 'unknown' as const, error }
    const change = writeWhole(new Change(), entry.organizationId, entry.traceId, ended, rows)
    if (entry.begun && (await queuedAt(database, entry))) noteBegun(change, entry, undefined)
    const nowMs = this.#options.clock.now()
    const applied = applyInterruption(stored.record, attempt.recipients)
    const bounces = bouncesIn(stored.record, applied, attempt, nowMs)
    const trace = withNotice(change, entry.organizationId, stored.record, withBounces(applied, bounces), nowMs)
    const settings = await this.#options.policies.of(entry.organizationId)
    announceFailures(database, change, settings.webhooks, {
      ...entry,
      before: stored.record,
      after: trace,
      at: nowMs,
      bounces: bounceFacts(bounces),
    })
    await stageBounces(change, { ...settings, database, organizationId: entry.organizationId, nowMs }, trace, bounces)
    return { change: change.rewrite(traces, entry.organizationId, stored, trace), trace, attempt: ended }
  }

  #target(destination: Destination): TransportTarget | undefined {
    const revision = String(destination.updatedAt)
    const kept = this.#targets.get(destination.id)
    if (kept?.revision === revision) return kept
    const target = toTarget(destination, this.#options.secrets)
    if (target) this.#targets.set(destination.id, target)
    return target
  }
}

const dequeued = (change: Change, entry: QueueEntry): undefined => void dequeue(change, entry)

/** Rounds milliseconds to a tenth. */
const tenths = (milliseconds: AttemptReport['milliseconds']): AttemptReport['milliseconds'] =>
  Object.fromEntries(Object.entries(milliseconds).map(([step, spent]) => [step, Math.round(spent * 10) / 10]))
