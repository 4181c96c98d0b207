/** The core's `MessageRewriter`, on separate threads. Organizations take turns. */
import type { Clock } from '#core/clock.ts'
import type { MessageRewriter, MessageSource, Rewritten, TrackingAddresses } from '#core/tracking/rewriter.ts'
import { ParserPool, usualLimits, type Ask, type ParserPoolLimits } from '../threads/parser-pool.ts'
import type { ParserAnswer } from '../threads/parser-thread.ts'

const maxOctets = 64 * 1024 * 1024
const ownLimits: ParserPoolLimits = { ...usualLimits, deadlineMs: 30_000 }
const entry = new URL('./rewrite-worker.ts', import.meta.url)

const failed: Rewritten = { ok: false, reason: 'failed' }

export class WorkerMessageRewriter implements MessageRewriter {
  readonly #threads: ParserPool

  /** The first message starts a thread. `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserPoolLimits = ownLimits, workerEntry: URL = entry) {
    this.#threads = new ParserPool(workerEntry, clock, limits)
  }

  rewrite(message: MessageSource, addresses: TrackingAddresses): Promise<Rewritten> {
    if (message.size > maxOctets) return Promise.resolve({ ok: false, reason: 'too_large' })
    const turn = { turn: message.organizationId, octets: message.size }
    return this.#threads.inTurn(turn, async (ask) => rewrite(ask, await message.read(), addresses), failed)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }
}

async function rewrite(ask: Ask, raw: Uint8Array<ArrayBuffer>, { ownUrl, linkFor, pixel }: TrackingAddresses): Promise<Rewritten> {
  if (!linkFor) return outcome(await ask({ kind: 'track', raw, ownUrl, marks: { links: undefined, pixel } }), 0)
  const found = await ask({ kind: 'links', raw, ownUrl })
  if (found.kind !== 'links') return outcome(found, 0)
  if (found.links.length === 0 && pixel === undefined) return { ok: true, content: found.raw, links: 0 }
  const links = found.links.map((target, at) => linkFor(at + 1, target))
  return outcome(await ask({ kind: 'track', raw: found.raw, ownUrl, marks: { links, pixel } }), links.length)
}

function outcome(answer: ParserAnswer, links: number): Rewritten {
  if (answer.kind === 'tracked') return { ok: true, content: answer.raw, links }
  return answer.kind === 'untracked' ? { ok: false, reason: answer.reason } : failed
}
