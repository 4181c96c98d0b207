/** Virtual inboxes: list of captures, single captures, and the long poll. Spec "Virtual inboxes". */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { Clock } from '../../clock.ts'
import { OpenCounts } from '../../fairness/open-counts.ts'
import { Refusal } from '../../refusals.ts'
import { arrivals, firstIdOf, lastIdOf } from '../../trace/arrivals.ts'
import { captured, traces, type Trace } from '../../trace/trace.ts'
import type { CaptureEvents } from '../notify/capture-events.ts'
import { captureOf, inboxes, retainedFrom, type Capture, type Inbox } from '../capture.ts'
import { readLastNotify, type LastNotify } from '../notify/last-notify.ts'
import type { ReadResult } from '../reading/message-reader.ts'
import { figuresOf, type InboxFigures } from './inbox-figures.ts'
import { walkOf, type Walk } from './inbox-walk.ts'
import { landsIn, looksLikePattern, parsePattern } from '../inbox-pattern.ts'
import type { RawMessage, Readings } from '../reading/readings.ts'
import { listReachable, sieve, type List, type ListParts, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { reachableProject } from '../../access/principal/project-choice.ts'

export interface InboxOptions extends ListParts {
  readonly readings: Readings
  readonly captureEvents: CaptureEvents
  readonly clock: Clock
}

/** A capture with its trace and parsed message. */
export interface CapturedMessage {
  readonly capture: Capture
  readonly trace: Trace
  readonly read: ReadResult
}

/** A capture in a list. */
export interface CaptureSummary {
  readonly capture: Capture
  readonly trace: Trace
}

/** Start of a list or a wait: after this time, or after the capture with this id. */
export type Since = { readonly at: number } | { readonly captureId: string }

/** Query of a message list. */
export interface MessagesWanted extends PageQuery {
  readonly since?: Since | undefined
  /** Only messages with this address among the seen or intended addresses. */
  readonly address?: string | undefined
}

const maxWaitsPerGrant = 20
const maxWaitsPerProject = 200

export class Inboxes implements List<OfProject, Inbox> {
  readonly #options: InboxOptions
  readonly #waits = new OpenCounts()
  /** Reads in progress. Callers that wait for the same message share one read. */
  readonly #reading = new Map<string, Promise<CapturedMessage>>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  /** Newest first. Throws `not_found` for a project that the caller cannot access. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<Inbox>> {
    return listReachable(this.#options, inboxes, principal, query)
  }

  /** Returns figures of each inbox, including messages since `since`, in the order of `list`. Throws like `list`. */
  async figures(
    principal: Principal,
    { since: sinceMs, ...query }: PageQuery & OfProject & { readonly since?: number | undefined },
  ): Promise<Page<InboxFigures>> {
    const { database, clock } = this.#options
    const { rows, nextCursor } = await this.list(principal, query)
    const moment = { nowMs: clock.now(), sinceMs }
    const figures = rows.map((inbox) => figuresOf(database, principal.organizationId, inbox, moment))
    return { rows: await Promise.all(figures), nextCursor }
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, inboxId: string): Promise<Inbox> {
    const stored = await this.#options.database.get(inboxes, principal, inboxId)
    if (!stored) throw new Refusal('not_found', 'No virtual inbox has this id.')
    return stored.record
  }

  /**
   * Finds an inbox by its pattern, ignoring case. Without a project, the caller's own project takes precedence, then the oldest inbox.
   * Throws `not_found` for a project that the caller cannot access.
   */
  async lookup(principal: Principal, pattern: string, projectId?: string): Promise<Inbox | undefined> {
    const { database, policies } = this.#options
    const { projects } = await policies.of(principal.organizationId)
    const project = reachableProject(principal, projects, projectId, 'project')
    const wanted = parsePattern(pattern)
    if (wanted === undefined) return undefined
    const asked = project === undefined ? [principal.projectId, ...projects.keys()] : [project]
    const patterns = asked.map((id) => [id, wanted])
    const found = await database.findMany(inboxes, principal, 'pattern', patterns)
    const [near, ...others] = found.map((stored) => stored?.record)
    return near ?? others.filter((one) => one !== undefined).toSorted((a, b) => (a.id < b.id ? -1 : 1))[0]
  }

  /** Returns the result of the latest notification. */
  lastNotify({ organizationId }: Principal, { id }: Inbox): Promise<LastNotify | undefined> {
    return readLastNotify(this.#options.database, organizationId, id)
  }

  /** Finds an inbox by id or by pattern. Throws `not_found` for an unknown id; undefined for an unknown pattern. */
  named(principal: Principal, idOrPattern: string): Promise<Inbox | undefined> {
    return looksLikePattern(idOrPattern) ? this.lookup(principal, idOrPattern) : this.get(principal, idOrPattern)
  }

  /** Lists messages, newest first, or after `since` in order of arrival. A page may be shorter than its limit although more follow. */
  async messages(principal: Principal, inboxId: string, wanted: MessagesWanted): Promise<Page<CaptureSummary>> {
    const { database, clock } = this.#options
    const inbox = await this.get(principal, inboxId)
    const { since } = wanted
    const oldest = retainedFrom(inbox, clock.now())
    const walk = walkOf(inbox, wanted.address === undefined ? undefined : (parsePattern(wanted.address) ?? wanted.address))
    const after = since && (await this.#positionOf(principal, inbox, walk, notBefore(since, oldest)))
    const { limit, cursor } = wanted
    const look = (latest = lastIdOf(Infinity)): Promise<Page<Stored<Trace>>> => {
      const isWanted = (capture: Capture): boolean =>
        capture.capturedAt >= oldest && landsIn(inbox, capture) && isAfter(capture, since) && placeIn(walk, capture) <= latest
      // all further messages are older
      const isPast = (capture: Capture): boolean => since === undefined && placeIn(walk, capture) < firstIdOf(oldest)
      const chosen = sieve<Trace>((trace) => isIn(trace, isWanted), (trace) => isIn(trace, isPast)) // prettier-ignore
      return database.list(traces, principal, { ...walk, ascending: since !== undefined, after, limit, cursor }, chosen)
    }
    const { rows, nextCursor } = await this.#inOrder(walk, look)
    return { rows: rows.flatMap(({ record }) => summaryOf(record) ?? []), nextCursor }
  }

  /** Waits until no earlier message can become visible before the latest one, so that readers who continue from it miss nothing. */
  async #inOrder(walk: Walk, look: (latest?: string) => Promise<Page<Stored<Trace>>>): Promise<Page<Stored<Trace>>> {
    const page = await look()
    const places = page.rows.flatMap(({ record }) => captureOf(record) ?? []).map((capture) => placeIn(walk, capture))
    const latest = places.reduce((one, other) => (other > one ? other : one), '')
    return latest !== '' && (await this.#options.database.settled(latest)) ? look(latest) : page
  }

  async message(principal: Principal, inboxId: string, captureId: string): Promise<CapturedMessage> {
    const { capture, trace } = await this.found(principal, inboxId, captureId)
    const read = await this.#options.readings.read(principal.organizationId, trace)
    // the background reading may still be pending
    const seen = read.ok ? read.message.addressesSeen : []
    return { capture: { ...capture, addressesSeen: [...new Set([...capture.addressesSeen, ...seen])].toSorted() }, trace, read }
  }

  /** Returns the message as it would have been sent, in pieces. */
  async raw(principal: Principal, inboxId: string, captureId: string): Promise<RawMessage> {
    const { trace } = await this.found(principal, inboxId, captureId)
    return this.#options.readings.raw(principal.organizationId, trace)
  }

  /** Returns the decoded bytes of one attachment, by its position in the message. */
  async attachment(principal: Principal, inboxId: string, captureId: string, index: number): Promise<Uint8Array> {
    const { trace } = await this.found(principal, inboxId, captureId)
    const bytes = await this.#options.readings.attachment(principal.organizationId, trace, index)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    return bytes
  }

  /**
   * Resolves with the first capture after `since` (default: now), or undefined after `timeoutMs` or when the caller disconnects. Throws
   * `rate_limit_exceeded` if the key has too many open waits.
   */
  async wait(
    principal: Principal,
    inboxId: string,
    options: { readonly since?: Since | undefined; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<CapturedMessage | undefined> {
    const inbox = await this.get(principal, inboxId)
    const release = this.#takeWait(principal, inbox.projectId)
    const { captureEvents, clock, readings } = this.#options
    const [unexpect, beganAt] = [readings.expect(), clock.now()]
    const { promise, resolve } = Promise.withResolvers<Capture | undefined>()
    const onCapture = (capture: Capture, before: Capture | undefined): void => {
      const isNews = landsIn(inbox, capture) && !(before && landsIn(inbox, before))
      if (isNews && isAfter(capture, options.since)) resolve(capture)
    }
    const silence = captureEvents.listen(inbox.projectId, onCapture)
    const timer = clock.after(options.timeoutMs, () => resolve(undefined))
    const leave = (): void => resolve(undefined)
    options.signal.addEventListener('abort', leave, { once: true })
    try {
      if (options.signal.aborted) return undefined
      const earlier = options.since && (await this.#firstAfter(principal, inbox, options.since))
      const capture =
        earlier ?? (await promise.then((rung) => rung && this.#firstOf(principal, inbox, rung, options.since ?? { at: beganAt })))
      return capture && (await this.#readOnce(principal, inbox.id, capture.id))
    } finally {
      silence()
      timer.cancel()
      options.signal.removeEventListener('abort', leave)
      unexpect()
      release()
    }
  }

  /** Returns the first of this capture and earlier captures that another daemon made visible later. */
  async #firstOf(principal: Principal, inbox: Inbox, rung: Capture, since: Since): Promise<Capture> {
    const { database } = this.#options
    if (database.daemons.isAlone) return rung
    const walk = walkOf(inbox)
    await database.settled(placeIn(walk, rung))
    const first = await this.#firstVisible(principal, inbox, since)
    return first && placeIn(walk, first) < placeIn(walk, rung) ? first : rung
  }

  async #firstAfter(principal: Principal, inbox: Inbox, since: Since): Promise<Capture | undefined> {
    const first = await this.#firstVisible(principal, inbox, since)
    if (!first || !(await this.#options.database.settled(placeIn(walkOf(inbox), first)))) return first
    return this.#firstVisible(principal, inbox, since)
  }

  async #firstVisible(principal: Principal, inbox: Inbox, since: Since): Promise<Capture | undefined> {
    const { database, clock } = this.#options
    const walk = walkOf(inbox)
    const oldest = retainedFrom(inbox, clock.now())
    const after = await this.#positionOf(principal, inbox, walk, notBefore(since, oldest))
    let cursor: string | undefined
    do {
      const page: Page<Stored<Trace>> = await database.list(traces, principal, { ...walk, limit: 10, ascending: true, after, cursor })
      const found = page.rows.flatMap(({ record }) => captureOf(record) ?? [])
      const first = found.find((capture) => capture.capturedAt >= oldest && isAfter(capture, since))
      if (first) return first
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return undefined
  }

  /** Returns the position after all captures up to `since`. */
  async #positionOf(principal: Principal, { projectId }: Inbox, walk: Walk, since: Since): Promise<readonly Element[]> {
    if ('at' in since) return [lastIdOf(since.at)]
    const known = await this.#capture(principal, projectId, since.captureId)
    return known ? [...arrivalIn(walk, known.capture), known.trace.id] : [since.captureId]
  }

  async #capture(principal: Principal, projectId: string, captureId: string): Promise<CaptureSummary | undefined> {
    const { rows } = await this.#options.database.list(traces, principal, {
      values: [projectId, captured, captureId],
      limit: 1,
      forWork: true,
    })
    return rows[0] && summaryOf(rows[0].record)
  }

  #readOnce(principal: Principal, inboxId: string, captureId: string): Promise<CapturedMessage> {
    const key = `${principal.organizationId} ${inboxId} ${captureId}`
    const known = this.#reading.get(key)
    if (known) return known
    const reading = this.message(principal, inboxId, captureId).finally(() => this.#reading.delete(key))
    this.#reading.set(key, reading)
    return reading
  }

  /** Returns a capture that is still in the inbox. Throws `not_found`. */
  async found(principal: Principal, inboxId: string, captureId: string): Promise<CaptureSummary> {
    const inbox = await this.get(principal, inboxId)
    const found = await this.#capture(principal, inbox.projectId, captureId)
    const oldest = retainedFrom(inbox, this.#options.clock.now())
    if (!found || !landsIn(inbox, found.capture) || found.capture.capturedAt < oldest)
      throw new Refusal('not_found', 'No message of this inbox has this id.')
    return found
  }

  #takeWait({ credentialId }: Principal, projectId: string): () => void {
    const isFull = this.#options.captureEvents.waiting(projectId) >= maxWaitsPerProject
    const leave = isFull ? undefined : this.#waits.enter(credentialId, maxWaitsPerGrant)
    if (leave) return leave
    const message = `At most ${maxWaitsPerGrant} waits per key and ${maxWaitsPerProject} per project can be open at a time.`
    throw new Refusal('rate_limit_exceeded', message, { retryAfterSeconds: 5 })
  }
}

/** Returns the position among capture ids, by arrival in the inbox. */
const placeIn = (walk: Walk, capture: Capture): string => arrivalIn(walk, capture)[0] ?? capture.id

/** Returns the position of a capture in a walk. */
const arrivalIn = ({ pattern }: Walk, capture: Capture): readonly string[] => [...(arrivals(capture).get(pattern) ?? []), capture.id]

const notBefore = (since: Since, oldest: number): Since => ('at' in since && since.at < oldest ? { at: oldest - 1 } : since)

function summaryOf(trace: Trace): CaptureSummary | undefined {
  const capture = captureOf(trace)
  return capture && { capture, trace }
}

function isIn(trace: Trace, fits: (capture: Capture) => boolean): boolean {
  const capture = captureOf(trace)
  return capture !== undefined && fits(capture)
}

/** Excludes the capture of `since` and captures not newer than its time. Messages found late may have an earlier capture time. */
const isAfter = (capture: Capture, since: Since | undefined): boolean =>
  since === undefined || ('at' in since ? capture.capturedAt > since.at : capture.id !== since.captureId)
