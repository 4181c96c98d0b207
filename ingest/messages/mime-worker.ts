/** The parsing thread: processes one request at a time and keeps no state between requests. */
import { parentPort } from 'node:worker_threads'
import { BeyondLimits } from '../mime/mime-parse.ts'
import type { ParserAnswer, ParserRequest } from '../threads/parser-thread.ts'
import { readParts, type MessageParts } from '../mime/message-parts.ts'
import { readAttachment, readMessage } from './read-message.ts'

parentPort?.on('message', (request: ParserRequest) => void answer(request))

async function answer(request: ParserRequest): Promise<void> {
  const raw = Buffer.from(request.raw.buffer, request.raw.byteOffset, request.raw.byteLength)
  try {
    if (request.kind === 'read') post({ kind: 'message', message: await readMessage(raw, request.cut) })
    else if (request.kind === 'parts') answerParts(await readParts(raw))
    else if (request.kind === 'attachment') await answerAttachment(raw, request.cut, request.index)
  } catch (error) {
    post({
      kind: 'failed',
      sentence: error instanceof BeyondLimits ? error.message : 'The message is not well-formed MIME.',
      lasting: true,
    })
  }
}

function answerParts(parts: MessageParts): void {
  post(
    { kind: 'parts', parts },
    parts.attachments.map(({ content }) => content.buffer),
  )
}

async function answerAttachment(raw: Buffer, cut: boolean, index: number): Promise<void> {
  const bytes = await readAttachment(raw, cut, index)
  post({ kind: 'attachment', bytes }, bytes ? [bytes.buffer] : [])
}

function post(message: ParserAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
