/** The query field by which a deletion gives up mail that waits. */
import * as z from 'zod'

export const discardQueued = z.enum(['true', 'false']).optional().meta({ description: 'true gives up the mail that is queued.' })
