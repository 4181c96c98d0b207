/** Accepts messages of `postern sendmail`: a line of JSON with the envelope, followed by the message. */
import { addressProblem } from '#config/mail/address-problem.ts'
import * as z from 'zod'
import { parseAddress, type Mailbox } from '#core/addresses.ts'
import { apiKeys } from '#core/access/keys/api-key.ts'
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { commandLine } from '#core/access/run-token.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import type { SendMessages, WholeOrder } from '#core/submission/doors/send-messages.ts'
import type { Database } from '#store/database.ts'
import { streamed } from '../bodies/body-stream.ts'
import { BodyMemory } from '../bodies/body-turns.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { sendRefusals } from '../rest/sending/messages.ts'
import { isSendmailProof, sendmailPath, sendmailType } from './sendmail-address.ts'

/** Memory limit for all messages that are being received. */
const maxMemoryBytes = 128 * 1024 * 1024
const lf = 10

const envelopeShape = z.object({
  from: z.string(),
  to: z.array(z.string()).min(1).max(10_000),
  id: z.string().max(100).optional(),
  by: z.string().max(100).optional(),
  proof: z.string().max(100).optional(),
})
type Envelope = z.infer<typeof envelopeShape>

export interface SendmailOptions {
  readonly sendMessages: Pick<SendMessages, 'send'>
  readonly keys: Pick<ApiKeys, 'authenticateHash'>
  readonly database: Database
  readonly maxBodyBytes: number
}

export const sendmailOperation = ({ sendMessages, maxBodyBytes, ...proofs }: SendmailOptions): Operation => {
  const memory = new BodyMemory(maxMemoryBytes)
  return operation({
    method: 'POST',
    path: sendmailPath,
    operationId: 'submitSendmail',
    summary: 'Accept a message of postern sendmail',
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
        const { envelope, message } = taken(Buffer.concat(chunks))
        const sender = await senderOf(proofs, principal, envelope, message)
        const { traceId, outcome } = await sendMessages.send(sender, orderOf(envelope, message, headers['idempotency-key']))
        return { trace_id: traceId, outcome }
      } finally {
        memory.release(size)
      }
    },
  })
}

function taken(bytes: Buffer): { readonly envelope: Envelope; readonly message: Buffer } {
  const end = bytes.indexOf(lf)
  const { data: envelope } = envelopeShape.safeParse(jsonOf(bytes.subarray(0, Math.max(0, end))))
  if (!envelope) throw invalid([{ path: 'envelope', message: 'must be a line with {"from": …, "to": […]} and at least one recipient' }])
  return { envelope, message: bytes.subarray(end + 1) }
}

/** Limit of keys whose hashes have the same prefix of 64 bits. */
const maxAlike = 4

/**
 * Returns the sender. The daemon itself delivers spooled messages: a message with a valid proof is sent with the proved key. Throws
 * `unauthorized`.
 */
async function senderOf(
  { keys, database }: Pick<SendmailOptions, 'keys' | 'database'>,
  principal: Principal,
  { id, from, to, by, proof }: Envelope,
  message: Buffer,
): Promise<Principal> {
  if (principal.credentialId !== commandLine || proof === undefined || id === undefined || by === undefined) return principal
  const range = { from: by, until: `${by}\uffff`, limit: maxAlike }
  const alike = /^[\da-f]{16}$/.test(by) ? await database.lookupTexts(apiKeys, 'sha256', range) : []
  const proved = alike.find((sha256) => isSendmailProof(proof, sha256, { id, from, to, by }, message))
  if (proved === undefined) throw new Refusal('unauthorized', 'The proof of the message matches no API key.')
  return keys.authenticateHash(proved)
}

function orderOf(data: Envelope, message: Buffer, idempotencyKey: string | readonly string[] | undefined): WholeOrder {
  if (typeof idempotencyKey !== 'string' || idempotencyKey === '' || idempotencyKey.length > 255)
    throw invalid([{ path: 'Idempotency-Key', message: 'must have 1 to 255 characters' }])
  return {
    mime: message,
    from: data.from === '' ? undefined : mailboxIn('from', data.from),
    recipients: data.to.map((address) => mailboxIn('to', address)),
    ...{ projectId: undefined, destinationId: undefined, idempotencyKey, sendmail: { isNullPath: data.from === '' } },
  }
}

function mailboxIn(path: string, text: string): Mailbox {
  const mailbox = parseAddress(text)
  if (mailbox) return mailbox
  throw invalid([{ path, message: addressProblem(text) ?? `${JSON.stringify(text.slice(0, 320))} is not a mail address` }])
}

function jsonOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
