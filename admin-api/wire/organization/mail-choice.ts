/** The mails of the service that a user wants, on the wire. */
import * as z from 'zod'
import type { MailChoice } from '#core/people/mail-choices.ts'
import { encoder } from '../fields/codec.ts'

const text =
  'Whether the member receives a mail when an agent message waits for approval; only members who can approve get it. Null for ' +
  'API keys and applications, which receive no mail.'

const mailChoiceShape = z.object({ approvals: z.boolean().nullable().meta({ description: text }) }).meta({ id: 'MailChoice' })

export const mailChoiceChanges = z.strictObject({ approvals: z.boolean().optional() })
export const mailChoice = encoder(mailChoiceShape).from<MailChoice>()
