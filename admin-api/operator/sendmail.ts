/** Where `postern sendmail` hands over messages: a line of JSON with the envelope, and the message behind it. */
import * as z from 'zod'
import { parseAddress, type Mailbox } from '#core/addresses.ts'
import { invalid } from '#core/refusals.ts'
import type { SendMessages, WholeOrder } from '#core/submission/doors/send-messages.ts'
import { streamed } from '../bodies/body-stream.ts'
import { BodyMemory } from '../bodies/body-turns.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { sendRefusals } from '../rest/sending/messages.ts'
import { sendmailPath, sendmailType } from './sendmail-address.ts'

/** Of all messages that are being read. */
const maxMemoryBytes = 128 * 1024 * 1024
const lf = 10

const envelopeShape = z.object({ from: z.string(), to: z.array(z.string()).min(1).max(10_000) })

export interface SendmailOptions {
  readonly sendMessages: Pick<SendMessages, 'send'>
  readonly maxBodyBytes: number
}

export const sendmailOperation = ({ sendMessages, maxBodyBytes }: SendmailOptions): Operation => {
  const memory = new BodyMemory(maxMemoryBytes)
  return operation({
    method: 'POST',
    path: sendmailPath,
    operationId: 'submitSendmail',
    summary: 'Take a message of postern sendmail',
    tags: ['process'],
    scope: 'api:send',
    openToSendOnlyKeys: true,
    hiddenFromOpenApi: true,
    errors: sendRefusals,
    maxBodyBytes,
    maxBodySetting: 'POSTERN_HTTP_MAX_BODY_BYTES',
    deadlineSeconds: 120,
    body: streamed({ [sendmailType]: z.string() }),
    response: z.object({ trace_id: z.string(), outcome: z.string() }),
    async handle({ principal, body, headers }) {
      const chunks: Uint8Array[] = []
      let size = 0
      try {
        for await (const chunk of body.bytes) {
          memory.take(chunk.length)
          size += chunk.length
          chunks.push(chunk)
        }
        const order = orderOf(Buffer.concat(chunks), headers['idempotency-key'])
        const { traceId, outcome } = await sendMessages.send(principal, order)
        return { trace_id: traceId, outcome }
      } finally {
        memory.release(size)
      }
    },
  })
}

function orderOf(bytes: Buffer, idempotencyKey: string | readonly string[] | undefined): WholeOrder {
  const end = bytes.indexOf(lf)
  const { data } = envelopeShape.safeParse(jsonOf(bytes.subarray(0, Math.max(0, end))))
  if (!data) throw invalid([{ path: 'envelope', message: 'must be a line with {"from": …, "to": […]} and at least one recipient' }])
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '' || idempotencyKey.length > 255)
    throw invalid([{ path: 'Idempotency-Key', message: 'must have 1 to 255 characters' }])
  return {
    mime: bytes.subarray(end + 1),
    from: data.from === '' ? undefined : mailboxIn('from', data.from),
    recipients: data.to.map((address) => mailboxIn('to', address)),
    ...{ projectId: undefined, destinationId: undefined, idempotencyKey, sendmail: { isNullPath: data.from === '' } },
  }
}

function mailboxIn(path: string, text: string): Mailbox {
  const mailbox = parseAddress(text)
  if (mailbox) return mailbox
  throw invalid([{ path, message: `${JSON.stringify(text.slice(0, 320))} is not a mail address` }])
}

function jsonOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
