/** The thread that reads large JSON bodies. */
import { parentPort } from 'node:worker_threads'
import { parseJson } from './json-body.ts'
import type { JsonResult, JsonTask } from './json-thread.ts'

parentPort?.on('message', ({ number, bytes, limits }: JsonTask) => {
  const reading = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), limits)
  bytes.buffer.transfer(0)
  parentPort?.postMessage({ number, reading } satisfies JsonResult)
})
