/** What a deletion does with mail that waits: it keeps the deletion away, unless the caller gives it up. */
import * as z from 'zod'
import { withTextForm } from './text-form.ts'

const words = { description: 'true discards the queued mail.' }

/** The input of every deletion that queued mail can keep away. */
export const deletion = z.strictObject({
  discard_queued: withTextForm(
    z.boolean().default(false).meta(words),
    z
      .enum(['true', 'false'])
      .optional()
      .transform((text) => text === 'true')
      .meta(words),
  ),
})
