/** The thread that rewrites for tracking, one stateless request at a time. Apart from the one that parses, as it loads much less. */
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

/** In memory of its own: a small Buffer shares that of others. */
function answerTracked(message: Buffer): void {
  const raw = new Uint8Array(message)
  post({ kind: 'tracked', raw }, [raw.buffer])
}

function post(message: ParserAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
