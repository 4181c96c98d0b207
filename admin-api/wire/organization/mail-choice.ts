/** The mails of the service that a user wants, on the wire. */
import * as z from 'zod'
import type { MailChoice } from '#core/people/mail-choices.ts'
import { encoder } from '../fields/codec.ts'

const text =
  'Whether the member receives a mail when an agent message waits for approval; only members who can approve get it. Null for ' +
  'API keys and applications, which receive no mail.'

const alerts =
  'Whether the owner or admin gets mail of the alert channel `members` about findings of the organization. Null for API keys and ' +
  'applications.'

const mailChoiceShape = z
  .object({
    approvals: z.boolean().nullable().meta({ description: text }),
    alerts: z.boolean().nullable().meta({ description: alerts }),
  })
  .meta({ id: 'MailChoice' })

export const mailChoiceChanges = z.strictObject({ approvals: z.boolean().optional(), alerts: z.boolean().optional() })
export const mailChoice = encoder(mailChoiceShape).from<MailChoice>()
