/** What a deletion does with mail that waits: it keeps the deletion away, unless the query gives it up. */
import * as z from 'zod'

/** The query of every deletion that mail can keep away. */
export const deletionQuery = z.strictObject({
  discard_queued: z.enum(['true', 'false']).optional().meta({ description: 'true gives up the mail that is queued.' }),
})

export const toDeletion = ({ discard_queued }: z.output<typeof deletionQuery>): { readonly discardQueued: boolean } => ({
  discardQueued: discard_queued === 'true',
})
