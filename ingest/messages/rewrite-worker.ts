/**
 * The thread that rewrites messages for tracking, one stateless request at a time. It is separate from the parsing thread, because it loads
 * much less code.
 */
import { parentPort } from 'node:worker_threads'
import type { ParserAnswer, ParserRequest } from '../threads/parser-thread.ts'
import { trackableLinks, trackedMessage, Untracked } from './tracked-message.ts'

parentPort?.on('message', (request: ParserRequest) => answer(request))

function answer(request: ParserRequest): void {
  const raw = Buffer.from(request.raw.buffer, request.raw.byteOffset, request.raw.byteLength)
  try {
    if (request.kind === 'links')
      post({ kind: 'links', links: trackableLinks(raw, request.ownUrl), raw: request.raw }, [request.raw.buffer])
    else if (request.kind === 'track') answerTracked(trackedMessage(raw, request.ownUrl, request.marks))
  } catch (error) {
    if (error instanceof Untracked) post({ kind: 'untracked', reason: error.reason })
    else post({ kind: 'failed', sentence: 'The message could not be rewritten.', lasting: true })
  }
}

/** Copies the message to a separate buffer, because a small Buffer shares its memory with others. */
function answerTracked(message: Buffer): void {
  const raw = new Uint8Array(message)
  post({ kind: 'tracked', raw }, [raw.buffer])
}

function post(message: ParserAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
