/** The thread that parses large JSON bodies. */
import { parentPort } from 'node:worker_threads'
import { parseJson, type JsonLimits } from './json-body.ts'
import type { JsonResult, JsonTask } from './json-thread.ts'
import { takeLongTexts } from './long-texts.ts'

type Octets = Uint8Array<ArrayBuffer>

/** Pieces of incomplete bodies. */
class Bodies {
  readonly #pieces = new Map<number, Octets[]>()

  take({ number, bytes, limits }: JsonTask): void {
    const pieces = this.#pieces.get(number) ?? []
    if (bytes) {
      pieces.push(bytes)
      this.#pieces.set(number, pieces)
      return
    }
    this.#pieces.delete(number)
    if (limits) answer(number, joined(pieces), limits)
    else free(pieces)
  }
}

function joined(pieces: readonly Octets[]): Buffer<ArrayBuffer> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  free(pieces)
  return whole
}

function answer(number: number, body: Buffer<ArrayBuffer>, limits: JsonLimits): void {
  const reading = parseJson(body, limits)
  free([body])
  const texts = takeLongTexts(reading)
  const memory = texts.map(({ octets }) => octets.buffer)
  parentPort?.postMessage({ number, reading, texts } satisfies JsonResult, memory)
}

/** Frees the memory now; garbage collection would free it later. */
function free(pieces: readonly Octets[]): void {
  for (const { buffer } of pieces) buffer.transfer(0)
}

const received = new Bodies()
parentPort?.on('message', (task: JsonTask) => received.take(task))
