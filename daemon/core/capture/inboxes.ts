/** Virtual inboxes: which captures are in them, one capture in full, and the long poll. Spec "Virtual inboxes". */
import { readWholeContent } from '#store/content.ts'
import type { Database, Page } from '#store/database.ts'
import { indexPrefix, type Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Scope } from '../access/scope.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { traces, type Trace } from '../trace/trace.ts'
import type { CaptureBell } from './bell.ts'
import { captures, inboxes, type Capture, type Inbox } from './capture.ts'
import type { MessageReader, ReadResult } from './message-reader.ts'

export interface InboxOptions {
  readonly database: Database
  readonly reader: MessageReader
  readonly bell: CaptureBell
  readonly clock: Clock
}

/** A capture with its trace and what a reader would show of it. */
export interface CapturedMessage {
  readonly capture: Capture
  readonly trace: Trace
  readonly read: ReadResult
}

/** A capture as a list shows it. */
export interface CaptureSummary {
  readonly capture: Capture
  readonly trace: Trace
}

/** Where a list or a wait begins: after this time, or after the capture with this id. */
export type Since = { readonly at: number } | { readonly captureId: string }

const waitsPerGrantMax = 20
const waitsPerProjectMax = 200

export class Inboxes {
  readonly #options: InboxOptions
  readonly #waitsByGrant = new Map<string, number>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  list(
    scope: Scope,
    page: { readonly limit: number; readonly cursor?: string | undefined; readonly projectId?: string | undefined },
  ): Promise<Page<Stored<Inbox>>> {
    const elsewhere = scope.bound && page.projectId !== undefined && page.projectId !== scope.projectId
    if (elsewhere) return Promise.resolve({ rows: [], nextCursor: undefined })
    const reach = page.projectId === undefined ? scope : { ...scope, projectId: page.projectId, bound: true }
    return this.#options.database.list(inboxes, reach, { limit: page.limit, cursor: page.cursor })
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(scope: Scope, inboxId: string): Promise<Inbox> {
    const stored = await this.#options.database.get(inboxes, scope, inboxId)
    if (!stored) throw new Refusal('not_found', 'No virtual inbox has this id.')
    return stored.record
  }

  /** Newest first, or after `since` in order of arrival. */
  async messages(
    scope: Scope,
    inboxId: string,
    page: { readonly limit: number; readonly cursor?: string | undefined; readonly since?: Since | undefined },
  ): Promise<Page<CaptureSummary>> {
    const inbox = await this.get(scope, inboxId)
    const { rows, nextCursor } = await this.#options.database.list(captures, scope, {
      ...walk(inbox.projectId),
      limit: page.limit,
      ascending: page.since !== undefined,
      cursor: page.cursor ?? (page.since && cursorAfter(scope, inbox.projectId, page.since)),
    })
    const found = await Promise.all(rows.map(({ record }) => this.#options.database.get(traces, scope, record.traceId)))
    // a trace that is not there went with its capture after that was listed
    const summaries = rows.flatMap(({ record }, i) => {
      const trace = found[i]
      return trace ? [{ capture: record, trace: trace.record }] : []
    })
    return { rows: summaries, nextCursor }
  }

  async message(scope: Scope, inboxId: string, captureId: string): Promise<CapturedMessage> {
    const { capture, trace, raw } = await this.#raw(scope, inboxId, captureId)
    const read = await this.#options.reader.read(raw)
    // the reading in the background may still have to come
    const seen = read.ok ? read.message.addressesSeen : []
    return { capture: { ...capture, addressesSeen: [...new Set([...capture.addressesSeen, ...seen])].toSorted() }, trace, read }
  }

  /** The message as it would have been sent. */
  async raw(scope: Scope, inboxId: string, captureId: string): Promise<Uint8Array> {
    return (await this.#raw(scope, inboxId, captureId)).raw
  }

  /** The decoded bytes of one attachment, by its place in the message detail. */
  async attachment(scope: Scope, inboxId: string, captureId: string, index: number): Promise<Uint8Array> {
    const { raw } = await this.#raw(scope, inboxId, captureId)
    const bytes = await this.#options.reader.attachment(raw, index)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    return bytes
  }

  /**
   * Resolves with the first capture after `since` (without it: from now on), or undefined when `timeoutMs` passed or the
   * caller went away. Throws `rate_limit_exceeded` when the key already waits too often.
   */
  async wait(
    scope: Scope,
    inboxId: string,
    options: { readonly since?: Since | undefined; readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<CapturedMessage | undefined> {
    const inbox = await this.get(scope, inboxId)
    const release = this.#takeWait(scope, inbox.projectId)
    const { bell, clock } = this.#options
    const { promise, resolve } = Promise.withResolvers<Capture | undefined>()
    const silence = bell.listen(inbox.projectId, (capture) => isWanted(capture, options.since) && resolve(capture))
    const timer = clock.after(options.timeoutMs, () => resolve(undefined))
    const leave = (): void => resolve(undefined)
    options.signal.addEventListener('abort', leave, { once: true })
    try {
      if (options.signal.aborted) return undefined
      const earlier = options.since && (await this.#firstAfter(scope, inbox.projectId, options.since))
      const capture = earlier ?? (await promise)
      return capture && (await this.message(scope, inbox.id, capture.id))
    } finally {
      silence()
      timer.cancel()
      options.signal.removeEventListener('abort', leave)
      release()
    }
  }

  async #firstAfter(scope: Scope, projectId: string, since: Since): Promise<Capture | undefined> {
    const cursor = cursorAfter(scope, projectId, since)
    const { rows } = await this.#options.database.list(captures, scope, { ...walk(projectId), limit: 1, ascending: true, cursor })
    return rows[0]?.record
  }

  async #raw(scope: Scope, inboxId: string, captureId: string): Promise<CaptureSummary & { readonly raw: Uint8Array }> {
    const inbox = await this.get(scope, inboxId)
    const stored = await this.#options.database.get(captures, scope, captureId)
    if (!stored || stored.record.projectId !== inbox.projectId) throw new Refusal('not_found', 'No message of this inbox has this id.')
    const trace = await this.#trace(scope, stored.record)
    const content = await readWholeContent(this.#options.database, scope.organizationId, trace.content)
    return { capture: stored.record, trace, raw: trace.prefix === '' ? content : Buffer.concat([Buffer.from(trace.prefix), content]) }
  }

  async #trace(scope: Scope, capture: Capture): Promise<Trace> {
    const stored = await this.#options.database.get(traces, scope, capture.traceId)
    if (!stored) throw new Refusal('not_found', 'The trace of this capture is gone.')
    return stored.record
  }

  #takeWait({ grantId }: Scope, projectId: string): () => void {
    const mine = this.#waitsByGrant.get(grantId) ?? 0
    if (mine >= waitsPerGrantMax || this.#options.bell.waiting(projectId) >= waitsPerProjectMax) {
      throw new Refusal(
        'rate_limit_exceeded',
        `At most ${waitsPerGrantMax} waits of a key and ${waitsPerProjectMax} of a project may be open at a time.`,
        { retryAfterSeconds: 5 },
      )
    }
    this.#waitsByGrant.set(grantId, mine + 1)
    return () => {
      const left = (this.#waitsByGrant.get(grantId) ?? 1) - 1
      if (left > 0) this.#waitsByGrant.set(grantId, left)
      else this.#waitsByGrant.delete(grantId)
    }
  }
}

/** The captures of a project by id, which is the order in which they were made. */
const walk = (projectId: string): { index: string; values: readonly Element[] } => ({ index: 'project', values: [projectId] })

/** A cursor behind everything up to `since`. Ids begin with their time in hexadecimal (`newId`), in which there is no `g`. */
function cursorAfter({ organizationId }: Scope, projectId: string, since: Since): string {
  const last =
    'at' in since
      ? `cap_${Math.min(Math.max(since.at, 0), 2 ** 48 - 1)
          .toString(16)
          .padStart(12, '0')}g`
      : since.captureId
  return Buffer.from(pack([...indexPrefix(captures.name, organizationId, 'project'), projectId, last])).toString('base64url')
}

/** Capture ids grow with time, so they compare like times. */
const isAfter = (capture: Capture, since: Since): boolean => ('at' in since ? capture.capturedAt > since.at : capture.id > since.captureId)
const isWanted = (capture: Capture, since: Since | undefined): boolean => since === undefined || isAfter(capture, since)
