/** Notification settings of a form: recipients, conditions and times. One record per form with notifications; not part of a version. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Condition } from '../definition/definition.ts'

export const digests = ['instant', 'hourly', 'daily'] as const
export type Digest = (typeof digests)[number]

const recipient = z.strictObject({
  /** Identifies the recipient in links of mails. */
  id: z.string(),
  /** Folded to lower case. */
  email: z.string(),
  /** Condition on the submission; null means every submission. */
  when: (z.record(z.string(), z.unknown()) as unknown as z.ZodType<Condition>).nullable(),
  digest: z.enum(digests),
  /** Time of the confirmation by link; members of the organization need none. */
  confirmedAt: z.int().nullable(),
})

const schema = z.strictObject({
  /** Id of the form. */
  id: z.string(),
  recipients: z.array(recipient),
  /** Sender address; defaults to the sender of the destination. */
  from: z.string().nullable(),
  /** Key of the field with the Reply-To address. */
  replyToField: z.string().nullable(),
  subjectTmpl: z.string(),
  includeAnswers: z.boolean(),
  webhookUrl: z.string().nullable(),
  /** Present if `webhookUrl` is set. */
  sealedWebhookSecret: z.string().nullable(),
  /** Why the last mail was not sent; null after a success. */
  problem: z.strictObject({ at: z.int(), message: z.string() }).nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type NotificationSettings = Immutable<Omit<z.infer<typeof schema>, 'recipients'>> & {
  readonly recipients: readonly NotificationRecipient[]
}
export type NotificationRecipient = Omit<Immutable<z.infer<typeof recipient>>, 'when'> & { readonly when: Condition | null }

/** Has no project; access is checked through the form. */
export const formNotifications = defineRecord<NotificationSettings>({
  name: 'form_notifications',
  noun: 'notifications of a form',
  schema,
  isTracked: true,
})

export interface NewRecipient extends Pick<NotificationRecipient, 'email' | 'digest'> {
  /** A checked condition. */
  readonly when: unknown
}

/** The settings that a request replaces. */
export interface NotificationOrder extends Pick<
  NotificationSettings,
  'from' | 'replyToField' | 'subjectTmpl' | 'includeAnswers' | 'webhookUrl'
> {
  readonly recipients: readonly NewRecipient[]
}

export const defaultSubject = 'New submission: {{.form.name}}'

/** Maximum number of recipients per form. */
export const maxRecipients = 20

/** Context that seals the secret of the webhook; see `SecretBox.seal`. */
export const webhookSecretContext = (formId: string): string => `${formNotifications.name}/${formId}/secret`
