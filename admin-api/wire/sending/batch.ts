/** A batch: several messages in one request, with a result for each. */
import * as z from 'zod'
import { maxBatch, type BatchMessage, type BatchResult } from '#core/submission/doors/send-batches.ts'
import { Refusal } from '#core/refusals.ts'
import { check } from '../../bodies/validation.ts'
import { decoder, encoderOf } from '../fields/codec.ts'
import { errorEnvelope } from '../fields/error.ts'
import { toRefusedSend } from './refused-send.ts'
import { acceptance, idempotencyKey, sendInput, toSendOrder } from './send.ts'

export const batchInput = z.strictObject({
  messages: z
    .array(z.unknown().meta({ $ref: '#/components/schemas/NewMessage' }))
    .min(1)
    .max(maxBatch)
    .meta({ description: `At most ${maxBatch} messages, each in the format of \`POST /v1/messages\`.` }),
  validation: z
    .enum(['strict', 'permissive'])
    .default('strict')
    .meta({
      description:
        '`strict`: if a message is invalid, none is sent and the request is refused; the error names `messages[i]`. ' +
        '`permissive`: each message is accepted or refused independently.',
    }),
  idempotency_key: idempotencyKey.optional().meta({
    description:
      'Gives each message without a key a key derived from this one: a repeated batch returns the same traces and sends nothing.',
  }),
})

const decode = decoder(sendInput)

/** Each message is decoded only when it is processed, since decoding a hundred messages takes time. */
export const toBatchMessage = (given: unknown): BatchMessage => ({
  order: () => toSendOrder(decode(check(sendInput, given, 'body'))),
  refused: () => toRefusedSend(given),
})

const batchShape = z
  .object({
    results: z
      .array(z.union([acceptance.schema, errorEnvelope.schema]))
      .meta({ description: 'One result for each message, in the same order: its trace and outcome, or its error.' }),
    accepted: z.int(),
    refused: z.int().meta({ description: 'Number of refused messages; none of them is sent.' }),
  })
  .meta({ id: 'BatchResponse' })

const isRefusal = (result: BatchResult): result is Refusal => result instanceof Refusal

export const batchResults = encoderOf(batchShape, (results: readonly BatchResult[]) => {
  const refused = results.filter(isRefusal).length
  const written = results.map((result) => (isRefusal(result) ? errorEnvelope.encode(result) : acceptance.encode(result)))
  return { results: written, accepted: results.length - refused, refused }
})
