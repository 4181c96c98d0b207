/** The core's `MessageRewriter`, on a thread of its own: one message at a time, the others wait. */
import type { Clock } from '#core/clock.ts'
import type { MessageRewriter, MessageSource, Rewritten, TrackingAddresses } from '#core/tracking/rewriter.ts'
import { ParserThread, type ParserAnswer, type ParserThreadLimits } from './parser-thread.ts'

const octetsMax = 64 * 1024 * 1024
const defaultLimits: ParserThreadLimits = { deadlineMs: 30_000, idleMs: 30_000 }
const entry = new URL('./rewrite-worker.ts', import.meta.url)

const failed: Rewritten = { ok: false, reason: 'failed' }

export class WorkerMessageRewriter implements MessageRewriter {
  readonly #thread: ParserThread

  /** The thread starts with the first message; `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserThreadLimits = defaultLimits, workerEntry: URL = entry) {
    this.#thread = new ParserThread(workerEntry, clock, limits)
  }

  rewrite(message: MessageSource, addresses: TrackingAddresses): Promise<Rewritten> {
    if (message.size > octetsMax) return Promise.resolve({ ok: false, reason: 'too_large' })
    return this.#thread.inTurn(async () => this.#rewrite(await message.read(), addresses), failed)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]()
  }

  async #rewrite(raw: Uint8Array<ArrayBuffer>, { ownUrl, linkFor, pixel }: TrackingAddresses): Promise<Rewritten> {
    if (!linkFor) return outcome(await this.#thread.ask({ kind: 'track', raw, ownUrl, marks: { links: undefined, pixel } }), 0)
    const found = await this.#thread.ask({ kind: 'links', raw, ownUrl })
    if (found.kind !== 'links') return outcome(found, 0)
    if (found.links.length === 0 && pixel === undefined) return { ok: true, content: found.raw, links: 0 }
    const links = found.links.map((target, at) => linkFor(at + 1, target))
    return outcome(await this.#thread.ask({ kind: 'track', raw: found.raw, ownUrl, marks: { links, pixel } }), links.length)
  }
}

function outcome(answer: ParserAnswer, links: number): Rewritten {
  if (answer.kind === 'tracked') return { ok: true, content: answer.raw, links }
  return answer.kind === 'untracked' ? { ok: false, reason: answer.reason } : failed
}
