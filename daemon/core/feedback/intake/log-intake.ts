/** Processes logs of mail servers in groups of lines, with the stored facts of earlier lines about the same messages. */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { IgnoredTally, noteIgnored, type IgnoredLine, type IgnoredLines } from '../../ingest-sources/ignored-lines.ts'
import type { SourceRef } from '../../ingest-sources/ingest-source.ts'
import { forgetSessions, keepSessions, readSessions } from '../../ingest-sources/log-sessions.ts'
import type { SignedSource } from '../../ingest-sources/signed-source.ts'
import type { KeyedMutex } from '../../keyed-mutex.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin, FeedbackOutcome, FeedbackTaker } from '../feedback-origin.ts'
import { giveWay } from '../../event-loop.ts'

/** Parsed log lines that need stored facts for further parsing. `S` is plain data that a reader stores per message. */
export interface GroupOfLines<S> {
  readonly needs: readonly string[]
  readonly read: (known: ReadonlyMap<string, S>) => {
    readonly events: readonly { readonly event: FeedbackEvent; readonly domains: readonly string[] }[]
    readonly rejected: readonly RejectedLine[]
    readonly ignored: readonly IgnoredLine[]
    readonly remember: ReadonlyMap<string, S>
    readonly forget: readonly string[]
  }
}

export interface RejectedLine {
  /** Line number, starting at 1. */
  readonly line: number
  readonly reason: string
}

/** Counts of events and lines by result. */
export interface TakenCounts {
  /** New events, including unmatched events. */
  readonly accepted: number
  readonly unmatched: number
  readonly duplicates: number
  readonly ignored: number
}

export interface LogTaken extends TakenCounts {
  readonly rejected: readonly RejectedLine[]
  /** Number of rejected lines that are not listed. */
  readonly rejectedMore: number
  /** Ignored lines by reason. */
  readonly ignoredLines: readonly IgnoredLines[]
}

export interface LogIntakeOptions extends Core {
  readonly feedback: FeedbackTaker
  readonly mutex: KeyedMutex
}

/** Maximum number of rejected lines that are listed. */
const maxRejected = 1000

export class LogIntake {
  readonly #options: LogIntakeOptions

  constructor(options: LogIntakeOptions) {
    this.#options = options
  }

  /** Resolves when all changes are durable. An unreadable line does not affect the other lines. */
  take<S>(signed: SignedSource, groups: AsyncIterable<GroupOfLines<S>>): Promise<LogTaken> {
    return this.#options.mutex.run(signed.source.id, () => this.#take(signed, groups))
  }

  async #take<S>({ organizationId, source }: SignedSource, groups: AsyncIterable<GroupOfLines<S>>): Promise<LogTaken> {
    const { database, clock, feedback } = this.#options
    const place = { organizationId, sourceId: source.id }
    let counts = noCounts
    const rejected: RejectedLine[] = []
    const ignored = new IgnoredTally()
    let rejectedMore = 0
    for await (const group of groups) {
      const reading = group.read(await readSessions<S>(database, place, group.needs))
      const now = clock.now()
      const outcomes = await feedback.take({ ...place, channel: 'signed' }, reading.events.map(withDomains), (change) => {
        keepSessions(change, place, reading.remember, now)
        forgetSessions(change, place, reading.forget)
      })
      for (const line of reading.ignored) ignored.add(line)
      counts = addCounts(counts, outcomes, reading.ignored.length)
      const shown = reading.rejected.slice(0, maxRejected - rejected.length)
      rejected.push(...shown)
      rejectedMore += reading.rejected.length - shown.length
      await giveWay() // without this, groups that need no stored facts would block the event loop until the log ends
    }
    if (ignored.lines > 0) await this.#keepIgnored(place, ignored.found)
    return { ...counts, rejected, rejectedMore, ignoredLines: ignored.found }
  }

  async #keepIgnored(source: SourceRef, found: readonly IgnoredLines[]): Promise<void> {
    const { database, clock } = this.#options
    const change = new Change()
    noteIgnored(change, source, found, clock.now())
    await database.commit(change)
  }
}

/** Maximum number of events processed in one turn of the event loop. */
const maxSlice = 1000

/** Processes many events and yields the event loop between slices. Returns outcomes in the order of the events. */
export async function takeInSlices(
  feedback: FeedbackTaker,
  origin: FeedbackOrigin,
  events: readonly FeedbackEvent[],
): Promise<readonly FeedbackOutcome[]> {
  const outcomes: FeedbackOutcome[] = []
  for (let at = 0; at < events.length; at += maxSlice) {
    await giveWay()
    outcomes.push(...(await feedback.take(origin, events.slice(at, at + maxSlice))))
  }
  return outcomes
}

/** Adds the domains of a complaint that does not identify a message to its event. */
export const withDomains = ({ event, domains }: { readonly event: FeedbackEvent; readonly domains: readonly string[] }): FeedbackEvent =>
  domains.length === 0 ? event : { ...event, clues: { ...event.clues, domains } }

export const noCounts: TakenCounts = { accepted: 0, unmatched: 0, duplicates: 0, ignored: 0 }

export function addCounts(counts: TakenCounts, outcomes: readonly FeedbackOutcome[], ignored: number): TakenCounts {
  const of = (wanted: FeedbackOutcome['result']): number => outcomes.filter(({ result }) => result === wanted).length
  return {
    accepted: counts.accepted + of('recorded') + of('unmatched'),
    unmatched: counts.unmatched + of('unmatched'),
    duplicates: counts.duplicates + of('duplicate'),
    ignored: counts.ignored + of('ignored') + ignored,
  }
}
