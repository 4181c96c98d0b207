/** Which mails of the service somebody wants, on the wire. */
import * as z from 'zod'
import type { MailChoice } from '#core/people/mail-choices.ts'
import { encoder } from '../fields/codec.ts'

const words =
  'A mail while a message of an agent waits for an approval, to members who may give it. Null for API keys and applications, which get no mail.'

const mailChoiceShape = z.object({ approvals: z.boolean().nullable().meta({ description: words }) }).meta({ id: 'MailChoice' })

export const mailChoiceChanges = z.strictObject({ approvals: z.boolean().optional() })
export const mailChoice = encoder(mailChoiceShape).from<MailChoice>()
