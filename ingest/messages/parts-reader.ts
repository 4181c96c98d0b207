/**
 * Splits messages into parts for delivery, outside the main thread. Its threads are separate from those for display. Organizations take
 * turns.
 */
import type { Clock } from '#core/clock.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { ParserPool, usualLimits } from '../threads/parser-pool.ts'

/** `lasting`: the message is the cause, so a retry would fail too. */
export type PartsResult =
  { readonly ok: true; readonly parts: MessageParts } | { readonly ok: false; readonly sentence: string; readonly lasting: boolean }

const maxOctets = 64 * 1024 * 1024
const limits = { ...usualLimits, deadlineMs: 30_000 }
const entry = new URL('./mime-worker.ts', import.meta.url)

export class PartsReader implements AsyncDisposable {
  readonly #threads: ParserPool

  /** The first message starts a thread. */
  constructor(clock: Clock) {
    this.#threads = new ParserPool(entry, clock, limits)
  }

  async read(raw: Uint8Array, organizationId: string): Promise<PartsResult> {
    if (raw.length > maxOctets) return { ok: false, sentence: 'The message is too large to be split into parts.', lasting: true }
    const answer = await this.#threads.ask({ turn: organizationId, octets: raw.length }, () => ({
      kind: 'parts',
      raw: new Uint8Array(raw),
      cut: false,
    }))
    if (answer.kind === 'parts') return { ok: true, parts: answer.parts }
    const { sentence = 'The message could not be parsed.', lasting = false } = answer.kind === 'failed' ? answer : {}
    return { ok: false, sentence, lasting }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }
}
