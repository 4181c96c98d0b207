/** The `discard_queued` field of deletions. Queued mail blocks a deletion unless the caller discards it. */
import * as z from 'zod'
import { withTextForm } from './text-form.ts'

const meta = { description: 'true discards the queued mail. Without it, queued mail blocks the deletion.' }

/** The input of every deletion that queued mail can block. */
export const deletion = z.strictObject({
  discard_queued: withTextForm(
    z.boolean().default(false).meta(meta),
    z
      .enum(['true', 'false'])
      .optional()
      .transform((text) => text === 'true')
      .meta(meta),
  ),
})
