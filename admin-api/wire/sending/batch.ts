/** Several messages in one request, and the result of each. */
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
    .meta({ description: `At most ${maxBatch} messages, each as \`POST /v1/messages\` takes it.` }),
  validation: z
    .enum(['strict', 'permissive'])
    .default('strict')
    .meta({
      description:
        '`strict`: when a message is wrong, none is sent and the request is refused, naming `messages[i]`. `permissive`: each message is ' +
        'accepted or refused by itself.',
    }),
  idempotency_key: idempotencyKey.optional().meta({
    description: 'Stands for one key of each message that has none: a repeated batch returns the same traces and sends nothing.',
  }),
})

const decode = decoder(sendInput)

/** Read when its turn comes, as a hundred messages take their time. */
export const toBatchMessage = (given: unknown): BatchMessage => ({
  order: () => toSendOrder(decode(check(sendInput, given, 'body'))),
  refused: () => toRefusedSend(given),
})

const batchShape = z
  .object({
    results: z
      .array(z.union([acceptance.schema, errorEnvelope.schema]))
      .meta({ description: 'One for each message, in their order: its trace and outcome, or the error that it was refused with.' }),
    accepted: z.int(),
    refused: z.int().meta({ description: 'Nothing of these is sent.' }),
  })
  .meta({ id: 'BatchResponse' })

const isRefusal = (result: BatchResult): result is Refusal => result instanceof Refusal

export const batchResults = encoderOf(batchShape, (results: readonly BatchResult[]) => {
  const refused = results.filter(isRefusal).length
  const written = results.map((result) => (isRefusal(result) ? errorEnvelope.encode(result) : acceptance.encode(result)))
  return { results: written, accepted: results.length - refused, refused }
})
