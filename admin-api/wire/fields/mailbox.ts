/** Mail addresses in REST requests: text with or without a display name, or an object. */
import * as z from 'zod'
import { addressProblem } from '#config/mail/address-problem.ts'
import { parseAddress, parseExactMailbox, parseMailbox, type Mailbox } from '#core/addresses.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import { isOneLine } from './text.ts'

const wrongAddress = 'must be one address such as ada@example.ch or Ada <ada@example.ch>'

const asText = z
  .string()
  .max(600)
  .transform((given, context): Mailbox => {
    const parsed = isOneLine(given) ? parseMailbox(given) : undefined
    if (parsed) return parsed
    context.addIssue({ code: 'custom', message: addressProblem(given) ?? wrongAddress })
    return z.NEVER
  })

const asObject = z
  .strictObject({ email: z.string().max(320), name: z.string().max(256).refine(isOneLine, 'must be on one line').optional() })
  .transform(({ email, name = '' }, context): Mailbox => {
    const parsed = isOneLine(email) ? parseAddress(trimInvisible(email)) : undefined
    if (parsed) return { ...parsed, name }
    context.addIssue({ code: 'custom', message: addressProblem(email) ?? wrongAddress, path: ['email'] })
    return z.NEVER
  })

/** One mailbox. Lists, groups and comments are refused at every position. */
export const mailbox = z.union([asText, asObject])

/** The text of one mailbox as it is stored, without surrounding whitespace and invisible characters. */
export const mailboxText = z
  .string()
  .max(600)
  .overwrite(trimInvisible)
  .refine((text) => isOneLine(text) && parseExactMailbox(text) !== undefined, {
    error: ({ input }) => addressProblem(String(input)) ?? wrongAddress,
  })

/** One mailbox or a list of mailboxes; parsed to a list. */
export const mailboxes = (max: number) =>
  z.union([asText, asObject, z.array(mailbox).max(max)]).transform((given): readonly Mailbox[] => (Array.isArray(given) ? given : [given]))
