/**
 * Reads the bodies of captured messages in the background for the addresses in them, in the order of a project's captures. This completes
 * the inboxes of a message; waiting callers are then notified. The write that marks the message as read precedes the notification, so that
 * no notification is sent twice. With several daemons, captures become visible out of order, so each has a pending row.
 */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { projects } from '../../tenancy/organization.ts'
import { owners } from '#store/upgrade/carry.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { meter } from '../../tenancy/counters.ts'
import { transact, type Transaction } from '../../writes/transact.ts'
import type { CaptureEvents } from '../notify/capture-events.ts'
import { captureOf, inboxes, type Capture, type Inbox } from '../capture.ts'
import type { Notifier } from '../notify/notifier.ts'
import { landsIn } from '../inbox-pattern.ts'
import { organizationsWithPendingReads, pendingReadKey, pendingReads } from './pending-read.ts'
import { ReadMarks } from './read-marks.ts'
import { onUnread } from './reading-work.ts'
import type { Readings } from './readings.ts'
import type { ReadResult } from './message-reader.ts'

export interface BackgroundReadOptions extends Core {
  readonly readings: Readings
  readonly captureEvents: CaptureEvents
  readonly notifier: Pick<Notifier, 'send'>
  readonly onError: (error: unknown, captureId: string) => void
}

/** Maximum notified inboxes of a project, far above the number in practice. */
const maxNotified = 1000
/** Organizations with a message in progress, so that a slow message does not delay others. */
const maxOrganizations = 64
/** Messages of a project per turn; then other projects and organizations follow. */
const turn = 32

/** Minimum delay before a failed read is retried. */
const restMs = 60_000

/** Progress through an organization's pending rows. The next walk starts at `restsUntil` at the earliest. */
interface PassedOver {
  readonly restsUntil: number
  afterId: string
  hasFailed: boolean
}

const toBegin = (restsUntil: number): PassedOver => ({ restsUntil, afterId: '', hasFailed: false })

/** Marks a message as read within a write. Returns false if another write has done so. */
type Mark = (change: Transaction) => Promise<boolean>

/** Result of a read. `failed`: defect. `stopped`: the process ends. `written`: the marks already include it. */
type Outcome = 'unchanged' | 'written' | 'failed' | 'stopped'

export class BackgroundRead {
  readonly #options: BackgroundReadOptions
  readonly #marks: ReadMarks
  /** Projects with possibly unread captures, by organization in order of turns. */
  readonly #unread = new Map<string, Set<string>>()
  /** Organizations with pending rows. */
  readonly #pending = new Map<string, PassedOver>()
  /** Messages whose read failed, with the end of their delay. */
  readonly #resting = new Map<string, number>()
  readonly #inFlight = new Map<string, Promise<void>>()
  #looking: Promise<void> | undefined
  #isStopping = false

  constructor(options: BackgroundReadOptions) {
    this.#options = options
    this.#marks = new ReadMarks(options.database)
    onUnread(options.database, (unread) => {
      for (const { organizationId, projectId, isPassedOver } of unread) {
        if (isPassedOver) this.#pending.set(organizationId, toBegin(0))
        this.#add(organizationId, this.#inOrder ? projectId : undefined)
      }
      this.#begin()
    })
  }

  /** Searches all organizations for reads left by an earlier process or a defect. */
  wake(): void {
    if (this.#isStopping) return
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.onError(error, ''))
      .finally(() => (this.#looking = undefined))
  }

  /** Resolves when the reader has processed all earlier captures, except failed ones. */
  async idle(): Promise<void> {
    for (;;) {
      const inFlight = [...this.#inFlight.values(), ...(this.#looking ? [this.#looking] : [])]
      if (inFlight.length === 0) return
      await Promise.all(inFlight)
    }
  }

  /** Starts no further read; the next start continues. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.idle()
    await this.#marks.save()
  }

  /** True if captures become visible in the order of their ids, which is also the reading order. */
  get #inOrder(): boolean {
    return this.#options.database.daemons.isAlone
  }

  async #look(): Promise<void> {
    const { database } = this.#options
    for await (const organizationId of organizationsWithPendingReads(database.kv)) this.#pending.set(organizationId, toBegin(0))
    for await (const organizationId of owners(database)) {
      if (this.#isStopping) return
      if (this.#pending.has(organizationId)) this.#add(organizationId)
      if (this.#inOrder) for (const { record } of await database.all(projects, { organizationId })) this.#add(organizationId, record.id)
      this.#begin()
    }
  }

  #add(organizationId: string, projectId?: string): void {
    const projectIds = this.#unread.get(organizationId) ?? new Set()
    if (projectId !== undefined) projectIds.add(projectId)
    this.#unread.set(organizationId, projectIds)
  }

  /** Starts turns up to the limit. The end of each turn calls this again. */
  #begin(): void {
    for (const [organizationId, projectIds] of this.#unread) {
      if (this.#isStopping || this.#inFlight.size >= maxOrganizations) return
      if (this.#inFlight.has(organizationId)) continue
      this.#unread.delete(organizationId)
      const turnOfIt = this.#readTurn(organizationId, projectIds).finally(() => {
        this.#inFlight.delete(organizationId)
        this.#begin()
      })
      this.#inFlight.set(organizationId, turnOfIt)
    }
  }

  /** Reads one turn. Never rejects. After a failure, a project's next turn follows its next capture. */
  async #readTurn(organizationId: string, projectIds: ReadonlySet<string>): Promise<void> {
    const { clock } = this.#options
    try {
      const pending = this.#pending.get(organizationId)
      if (pending && pending.restsUntil <= clock.monotonic() && (await this.#readPending(organizationId, pending)))
        this.#add(organizationId)
    } catch (error) {
      this.#options.onError(error, '')
    }
    for (const projectId of projectIds) {
      try {
        if (await this.#readNext(organizationId, projectId)) this.#add(organizationId, projectId)
      } catch (error) {
        this.#options.onError(error, '')
      }
    }
  }

  /** Returns true if more captures may follow. */
  async #readNext(organizationId: string, projectId: string): Promise<boolean> {
    const rows = await this.#marks.next(organizationId, projectId, turn)
    for (const { record } of rows) {
      if (this.#isStopping) return false
      const outcome = await this.#tryToRead(organizationId, record, async (change) => {
        await this.#marks.passWith(change, organizationId, record)
        return true
      })
      if (outcome === 'stopped') return false
      if (outcome === 'failed') await this.#passOver(organizationId, record)
      if (outcome === 'unchanged') await this.#marks.pass(organizationId, record)
      else this.#marks.passed(organizationId, record)
    }
    return rows.length === turn
  }

  async #passOver(organizationId: string, record: Trace): Promise<void> {
    await transact(this.#options.database, { organizationId }, async (change) => {
      const stored = await change.get(traces, record.id)
      if (stored && record.capture) change.set(pendingReadKey(organizationId, record.capture.id), Buffer.from(record.id))
      await this.#marks.passWith(change, organizationId, record)
    })
    if (!this.#pending.has(organizationId)) this.#pending.set(organizationId, toBegin(this.#options.clock.monotonic() + restMs))
  }

  /** Returns true if more rows may follow. After the last row, a later walk retries failed reads. */
  async #readPending(organizationId: string, pending: PassedOver): Promise<boolean> {
    const { database, clock } = this.#options
    const rows = await pendingReads(database.kv, organizationId, pending.afterId, turn)
    for (const { captureId, traceId } of rows) {
      if (this.#isStopping) return false
      const key = pendingReadKey(organizationId, captureId)
      const stored = await database.get(traces, { organizationId }, traceId)
      if ((this.#resting.get(captureId) ?? 0) > clock.monotonic()) {
        pending.hasFailed = true
        pending.afterId = captureId
        continue
      }
      this.#resting.delete(captureId)
      // otherwise the project's own turn reads it
      const isDue = stored && !(this.#inOrder && (await this.#marks.isAhead(organizationId, stored.record)))
      const outcome = isDue ? await this.#tryToRead(organizationId, stored.record, (change) => takeRow(database, change, key)) : 'unchanged'
      if (outcome === 'stopped') return false
      if (outcome === 'unchanged') await database.commit(new Change().delete(key))
      if (outcome === 'failed') {
        pending.hasFailed = true
        this.#resting.set(captureId, clock.monotonic() + restMs)
      }
      pending.afterId = captureId
    }
    if (rows.length === turn) return true
    if (this.#pending.get(organizationId) !== pending) return true // more rows were added in the meantime
    if (pending.hasFailed) this.#pending.set(organizationId, toBegin(clock.monotonic() + restMs))
    else this.#pending.delete(organizationId)
    return false
  }

  async #tryToRead(organizationId: string, trace: Trace, mark: Mark): Promise<Outcome> {
    try {
      const result = await this.#options.readings.read(organizationId, trace)
      if (!result.ok && this.#isStopping) return 'stopped' // a stopped reader reports every message as unreadable
      return await this.#finish(organizationId, trace, result, mark)
    } catch (error) {
      if (await this.#isGone(organizationId, trace.id)) return 'unchanged'
      this.#options.onError(error, trace.capture?.id ?? '')
      return 'failed'
    }
  }

  /** Returns true if the trace and its content were deleted. False if that cannot be determined; the original failure is then reported. */
  #isGone(organizationId: string, traceId: string): Promise<boolean> {
    return this.#options.database.get(traces, { organizationId }, traceId).then(
      (stored) => stored === undefined,
      () => false,
    )
  }

  async #finish(organizationId: string, trace: Trace, result: ReadResult, mark: Mark): Promise<Outcome> {
    const { database, captureEvents, clock, notifier } = this.#options
    const seen = result.ok ? result.message.addressesSeen : []
    const found = withSeen(captureOf(trace), seen)
    if (!found || (found.addresses.length === 0 && (await this.#inboxesToNotify(organizationId, found.capture)).length === 0))
      return 'unchanged'
    const written = await transact(database, { organizationId }, async (change) => {
      if (!(await mark(change))) return undefined
      const stored = await change.get(traces, trace.id)
      const before = stored && captureOf(stored.record)
      const now = withSeen(before, seen)
      if (!stored?.record.capture || !before || !now) return undefined // it was deleted in the meantime
      const notified = await this.#inboxesToNotify(organizationId, now.capture)
      for (const inbox of notified) meter(change, 'vi_notifies', organizationId, inbox.projectId, clock.now())
      const { addresses } = now
      if (addresses.length === 0) return { before, capture: before, notified }
      const { addressesSeen } = now.capture
      const foundLater = { place: database.orderedId(change, 'cap', clock.now()), addresses }
      const capture = { ...stored.record.capture, addressesSeen, foundLater }
      change.replace(traces, organizationId, stored, { ...stored.record, capture })
      return { before, capture: { ...before, addressesSeen, foundLater }, notified }
    })
    if (!written) return 'written'
    const { before, capture, notified } = written
    if (capture !== before) captureEvents.notify(capture, before)
    const subject = result.ok ? result.message.subject : trace.subject
    for (const inbox of notified) notifier.send({ organizationId, inbox, capture, subject })
    return 'written'
  }

  /** Returns the inboxes to notify; empty if virtual inboxes are off or the project is being deleted. */
  async #inboxesToNotify(organizationId: string, capture: Capture): Promise<readonly Inbox[]> {
    const { organization, projects: its } = await this.#options.policies.of(organizationId)
    if (!isSwitchedOn(organization, 'virtual_inboxes') || !its.has(capture.projectId)) return []
    const wanted = { index: 'notified', values: [capture.projectId], limit: maxNotified, forWork: true } as const
    const { rows } = await this.#options.database.list(inboxes, { organizationId }, wanted)
    return rows.map(({ record }) => record).filter((inbox) => landsIn(inbox, capture))
  }
}

/** Deletes the pending row of a message. Returns false if it no longer exists. */
async function takeRow({ kv }: Database, change: Transaction, key: readonly Element[]): Promise<boolean> {
  const row = await kv.get(pack(key))
  if (row) change.check(key, row.version).delete(key)
  return row !== undefined
}

/** Returns the capture with the addresses of its body, and the addresses that only the body has. */
function withSeen(capture: Capture | undefined, seen: readonly string[]) {
  if (!capture) return undefined
  const addresses = seen.filter((address) => !capture.addressesSeen.includes(address))
  return { capture: { ...capture, addressesSeen: [...capture.addressesSeen, ...addresses].toSorted() }, addresses }
}
