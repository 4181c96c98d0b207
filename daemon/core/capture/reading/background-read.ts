/**
 * Reads the bodies of captured messages for the addresses in them, after the acknowledgement and apart from it. Then all inboxes
 * of a message are known, and who waits for it is notified. The write that ends a reading comes first, so that none is notified twice.
 */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { traces } from '../../trace/trace.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { WorkLoop } from '../../work-loop.ts'
import { meter } from '../../tenancy/counters.ts'
import type { CaptureEvents } from '../notify/capture-events.ts'
import { captureOf, inboxes, type Capture, type Inbox } from '../capture.ts'
import type { Notifier } from '../notify/notifier.ts'
import { landsIn } from '../inbox-pattern.ts'
import { firstPendingReads, pendingReadKey, type PendingRead } from './pending-read.ts'
import type { Readings } from './readings.ts'

export interface BackgroundReadOptions extends Core {
  readonly readings: Readings
  readonly captureEvents: CaptureEvents
  readonly notifier: Pick<Notifier, 'send'>
  readonly onError: (error: unknown, captureId: string) => void
}

/** Inboxes of a project whose owners are notified; there are never as many. */
const maxNotified = 1000
/** Organizations of which a message is read at a time; one that takes long delays no other. */
const maxOrganizations = 64

export class BackgroundRead {
  readonly #options: BackgroundReadOptions
  readonly #rounds: WorkLoop
  /** By organization. */
  readonly #inFlight = new Map<string, Promise<void>>()
  /** What could not be read, by whatever defect, until something new comes. */
  readonly #broken = new Set<string>()

  constructor(options: BackgroundReadOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ round: () => this.#readAll(), onError: (error) => options.onError(error, '') })
  }

  /** Something may be waiting; also called at start for what an earlier process left. */
  wake(): void {
    this.#broken.clear()
    this.#rounds.wake()
  }

  /** Begins nothing new; what is left waits in the store for the next start. */
  async stop(): Promise<void> {
    await this.#rounds.stop()
    await Promise.all(this.#inFlight.values())
  }

  /** Begins with the first of every organization that has none under way; the end of each begins another round. */
  async #readAll(): Promise<void> {
    const skipped = { organizations: this.#inFlight, captures: this.#broken }
    for await (const pending of firstPendingReads(this.#options.database.kv, skipped)) {
      while (this.#inFlight.size >= maxOrganizations && !this.#rounds.stopping) await Promise.race(this.#inFlight.values())
      if (this.#rounds.stopping) return
      this.#inFlight.set(pending.organizationId, this.#readOne(pending))
    }
  }

  async #readOne(pending: PendingRead): Promise<void> {
    try {
      await this.#read(pending)
    } catch (error) {
      this.#broken.add(pending.captureId)
      this.#options.onError(error, pending.captureId)
    }
    this.#inFlight.delete(pending.organizationId)
    this.#rounds.wake()
  }

  async #read({ organizationId, captureId, traceId, version }: PendingRead): Promise<void> {
    const { database, readings, captureEvents, clock, notifier } = this.#options
    const pending = pendingReadKey(organizationId, captureId)
    const change = new Change().check(pending, version).delete(pending)
    const stored = await database.get(traces, { organizationId }, traceId)
    const before = stored && captureOf(stored.record)
    if (!stored?.record.capture || !before) return void (await database.commit(change))
    const result = await readings.read(organizationId, stored.record)
    if (!result.ok && this.#rounds.stopping) return // a reader that was stopped calls every message unreadable
    const seen = result.ok ? result.message.addressesSeen : []
    const addresses = seen.filter((address) => !before.addressesSeen.includes(address))
    const known = { ...before, addressesSeen: [...before.addressesSeen, ...addresses].toSorted() }
    const notified = await this.#inboxesToNotify(organizationId, known)
    for (const inbox of notified) meter(change, 'vi_notifies', organizationId, inbox.projectId, clock.now())
    const hasMore = addresses.length > 0
    const capture = hasMore ? { ...known, foundLater: { place: database.orderedId('cap', clock.now()), addresses } } : before
    const { addressesSeen, foundLater } = capture
    if (hasMore)
      change.replace(traces, organizationId, stored, { ...stored.record, capture: { ...stored.record.capture, addressesSeen, foundLater } })
    if (!(await database.commit(change)).ok) return // it went meanwhile, or is read again with the next wake
    if (hasMore) captureEvents.notify(capture, before)
    const subject = result.ok ? result.message.subject : stored.record.subject
    for (const inbox of notified) notifier.send({ organizationId, inbox, capture, subject })
  }

  /** None while virtual inboxes are switched off, or when the project is being deleted. */
  async #inboxesToNotify(organizationId: string, capture: Capture): Promise<readonly Inbox[]> {
    const { organization, projects } = await this.#options.policies.of(organizationId)
    if (!isSwitchedOn(organization, 'virtual_inboxes') || !projects.has(capture.projectId)) return []
    const wanted = { index: 'notified', values: [capture.projectId], limit: maxNotified }
    const { rows } = await this.#options.database.list(inboxes, { organizationId }, wanted)
    return rows.map(({ record }) => record).filter((inbox) => landsIn(inbox, capture))
  }
}
