/** Parses messages for display outside the main thread (see `MessageReader`). Organizations take turns. */
import type { MessageReader, ReadResult, WaitingMessage } from '#core/capture/reading/message-reader.ts'
import type { Clock } from '#core/clock.ts'
import { ParserPool, usualLimits, type ParserPoolLimits, type Turn } from '../threads/parser-pool.ts'

const maxOctets = 32 * 1024 * 1024
const entry = new URL('./mime-worker.ts', import.meta.url)

/** Parses the first 32 MiB of a message. An attachment that ends after them is not offered. */
export class WorkerMessageReader implements MessageReader {
  readonly #threads: ParserPool

  /** The first message starts a thread. `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserPoolLimits = usualLimits, workerEntry: URL = entry) {
    this.#threads = new ParserPool(workerEntry, clock, limits)
  }

  /** True while a parsing thread exists. */
  get running(): boolean {
    return this.#threads.running
  }

  expect(): () => void {
    return this.#threads.keep()
  }

  async read(message: WaitingMessage): Promise<ReadResult> {
    const answer = await this.#threads.ask(turnOf(message), async () => ({ kind: 'read', ...portion(await message.read()) }))
    if (answer.kind === 'message') return { ok: true, message: answer.message }
    const sentence = answer.kind === 'failed' ? answer.sentence : 'The message could not be parsed.'
    const isLasting = answer.kind === 'failed' && (answer.lasting === true || answer.isExhausted === true)
    return { ok: false, unreadable: `${sentence} The raw message is still available.`, ...(isLasting && { isLasting }) }
  }

  async attachment(message: WaitingMessage, index: number): Promise<Uint8Array | undefined> {
    const answer = await this.#threads.ask(turnOf(message), async () => ({ kind: 'attachment', index, ...portion(await message.read()) }))
    return answer.kind === 'attachment' ? answer.bytes : undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]()
  }
}

const turnOf = ({ organizationId, size }: WaitingMessage): Turn => ({ turn: organizationId, octets: Math.min(size, maxOctets) })

/** Copies the octets, unless they fill their buffer, which can then be transferred to the thread. */
function portion(raw: Uint8Array): { raw: Uint8Array<ArrayBuffer>; cut: boolean } {
  const isAlone = raw.buffer instanceof ArrayBuffer && raw.length === raw.buffer.byteLength && raw.length <= maxOctets
  return isAlone
    ? { raw: raw as Uint8Array<ArrayBuffer>, cut: false }
    : { raw: new Uint8Array(raw.subarray(0, maxOctets)), cut: raw.length > maxOctets }
}
