/** The `discard_queued` field of deletions. Queued mail blocks a deletion unless the caller discards it. */
import * as z from 'zod'
import { withBooleanForm } from './text-form.ts'

/** The input of every deletion that queued mail can block. */
export const deletion = z.strictObject({
  discard_queued: withBooleanForm(
    z.boolean().default(false).meta({ description: 'true discards the queued mail. Without it, queued mail blocks the deletion.' }),
  ),
})
