/** Who is notified of submissions of a form, of which ones and when. One record for each form that notifies; no version has it. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Condition } from '../definition/definition.ts'

export const digests = ['instant', 'hourly', 'daily'] as const
export type Digest = (typeof digests)[number]

const recipient = z.strictObject({
  /** Names the recipient in links of mails. */
  id: z.string(),
  /** Folded to lower case. */
  email: z.string(),
  /** Submissions that it is about; all of them without one. */
  when: (z.record(z.string(), z.unknown()) as unknown as z.ZodType<Condition>).nullable(),
  digest: z.enum(digests),
  /** When the owner of the address followed the link; members of the organization need not. */
  confirmedAt: z.int().nullable(),
})

const schema = z.strictObject({
  /** That of the form. */
  id: z.string(),
  recipients: z.array(recipient),
  /** Without it, the sender of the destination. */
  from: z.string().nullable(),
  /** Key of the field with the address that replies go to. */
  replyToField: z.string().nullable(),
  subjectTmpl: z.string(),
  includeAnswers: z.boolean(),
  webhookUrl: z.string().nullable(),
  /** There with the address. */
  sealedWebhookSecret: z.string().nullable(),
  /** Why the last mail was not sent; null when it was. */
  problem: z.strictObject({ at: z.int(), message: z.string() }).nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type NotificationSettings = Immutable<Omit<z.infer<typeof schema>, 'recipients'>> & {
  readonly recipients: readonly NotificationRecipient[]
}
export type NotificationRecipient = Omit<Immutable<z.infer<typeof recipient>>, 'when'> & { readonly when: Condition | null }

/** Belongs to no project by itself: it is reached through its form only. */
export const formNotifications = defineRecord<NotificationSettings>({
  name: 'form_notifications',
  noun: 'notifications of a form',
  schema,
  isTracked: true,
})

export interface NewRecipient extends Pick<NotificationRecipient, 'email' | 'digest'> {
  /** A condition, once it was checked. */
  readonly when: unknown
}

/** What is set, as a whole. */
export interface NotificationOrder extends Pick<
  NotificationSettings,
  'from' | 'replyToField' | 'subjectTmpl' | 'includeAnswers' | 'webhookUrl'
> {
  readonly recipients: readonly NewRecipient[]
}

export const defaultSubject = 'New submission: {{.form.name}}'

/** Of a form. */
export const maxRecipients = 20

/** Where the secret of the webhook is sealed for; see `SecretBox.seal`. */
export const webhookSecretContext = (formId: string): string => `${formNotifications.name}/${formId}/secret`
