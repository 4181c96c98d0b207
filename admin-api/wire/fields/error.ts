/** A refusal on the wire: the envelope of every error. Spec "Errors". */
import * as z from 'zod'
import type { Refusal } from '#core/refusals.ts'
import { encoderOf } from './codec.ts'

const errorShape = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string().meta({ description: 'A sentence that states the problem and the next step.' }),
      next_action: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  })
  .meta({ id: 'Error', description: 'The form of every error.' })

export const errorEnvelope = encoderOf(errorShape, ({ code, message, nextAction, details, retryAfterSeconds: retry }: Refusal) => ({
  error: {
    ...{ code, message, next_action: nextAction },
    details: retry === undefined ? details : { ...details, retry_after_seconds: Math.ceil(retry) },
  },
}))
