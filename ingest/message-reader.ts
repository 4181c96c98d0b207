/** Reads messages for people outside the main thread (see `MessageReader`): one message at a time, the others wait. */
import type { MessageReader, ReadResult } from '#core/capture/message-reader.ts'
import type { Clock } from '#core/clock.ts'
import { ParserThread, type ParserThreadLimits } from './parser-thread.ts'

const octetsMax = 32 * 1024 * 1024
const defaultLimits: ParserThreadLimits = { deadlineMs: 10_000, idleMs: 30_000 }
const entry = new URL('./mime-worker.ts', import.meta.url)

/** Of a message over 32 MiB the first 32 MiB are read; an attachment that goes beyond them is not offered. */
export class WorkerMessageReader implements MessageReader {
  readonly #thread: ParserThread

  /** The thread starts with the first message; `limits` and `workerEntry` are for tests. */
  constructor(clock: Clock, limits: ParserThreadLimits = defaultLimits, workerEntry: URL = entry) {
    this.#thread = new ParserThread(workerEntry, clock, limits)
  }

  /** Whether the parsing thread exists at the moment. */
  get running(): boolean {
    return this.#thread.running
  }

  expect(): () => void {
    return this.#thread.keep()
  }

  async read(raw: Uint8Array): Promise<ReadResult> {
    const answer = await this.#thread.askInTurn(() => ({ kind: 'read', ...portion(raw) }))
    if (answer.kind === 'message') return { ok: true, message: answer.message }
    const sentence = answer.kind === 'failed' ? answer.sentence : 'The message could not be parsed.'
    return { ok: false, unreadable: `${sentence} The raw message is still available.` }
  }

  async attachment(raw: Uint8Array, index: number): Promise<Uint8Array | undefined> {
    const answer = await this.#thread.askInTurn(() => ({ kind: 'attachment', index, ...portion(raw) }))
    return answer.kind === 'attachment' ? answer.bytes : undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]()
  }
}

function portion(raw: Uint8Array): { raw: Uint8Array<ArrayBuffer>; cut: boolean } {
  return { raw: new Uint8Array(raw.subarray(0, octetsMax)), cut: raw.length > octetsMax }
}
