/** Mail addresses as callers of REST give them: text with or without a display name, or an object. */
import * as z from 'zod'
import { parseAddress, parseMailbox, type Mailbox } from '#core/addresses.ts'
import { isOneLine } from './text.ts'

const words = 'must be one address such as ada@example.ch or Ada <ada@example.ch>'

/** One mailbox. Lists, groups and comments are refused, wherever they hide. */
export const mailbox = z
  .union([
    z.string().max(600),
    z.strictObject({ email: z.string().max(320), name: z.string().max(256).refine(isOneLine, 'must be on one line').optional() }),
  ])
  .transform((given, context): Mailbox => {
    const parsed = typeof given === 'string' ? parseMailbox(given) : parseAddress(given.email)
    if (parsed) return typeof given === 'string' ? parsed : { ...parsed, name: given.name ?? '' }
    context.addIssue({ code: 'custom', message: words, ...(typeof given !== 'string' && { path: ['email'] }) })
    return z.NEVER
  })

/** One mailbox or a list of them; comes out as a list. */
export const mailboxes = (max: number) =>
  z.union([mailbox, z.array(mailbox).max(max)]).transform((given): readonly Mailbox[] => (Array.isArray(given) ? given : [given]))
