/** Notifications of a form on the wire. */
import * as z from 'zod'
import { digests, defaultSubject, maxRecipients, type NotificationOrder } from '#core/forms/notifications/notification.ts'
import { shownUrl } from '#core/webhooks/endpoints/target-url.ts'
import type { ShownNotifications } from '#core/forms/notifications/notifications.ts'
import { addressProblem } from '#config/mail/address-problem.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import { parseExactAddress } from '#core/addresses.ts'
import { shownQuery } from '../feedback/webhook.ts'
import { encoderOf, type Decoded } from '../fields/codec.ts'
import { mailboxText } from '../fields/mailbox.ts'
import { hmacSecret, isOneLine } from '../fields/text.ts'
import { toWireTime, wireTime } from '../fields/time.ts'

const json = z.record(z.string(), z.unknown())
const email = z
  .string()
  .overwrite(trimInvisible)
  .max(320)
  .refine((text) => parseExactAddress(text) !== undefined, {
    error: ({ input }) => addressProblem(String(input)) ?? 'must be an email address such as name@example.org',
  })

const when = json.nullable().meta({
  description:
    'A condition as in the logic of the form, such as `{"field": "topic", "op": "eq", "value": "bug"}`; null matches every submission.',
})
const digest = z.enum(digests).meta({
  description:
    '`instant`: one mail per submission. `hourly` at the full hour and `daily` at 06:00 UTC: one mail for all submissions since ' +
    'the previous one.',
})
const texts = {
  from: { description: 'The sender; null means the sender of the destination.' },
  replyTo: { description: 'Key of the email field whose answer receives replies.' },
  subject: {
    description:
      `Template with \`.form.name\`, \`.fields\`, \`.submission.id\` and \`.submission.reference\`. If empty, ` +
      `\`${defaultSubject}\` is used; digests show the number of submissions instead.`,
  },
  answers: { description: 'Whether mails include the answers of the visitor. Answers of fields with `email_mask` are never included.' },
  webhook: { description: 'An https URL that gets each submission as a signed event. Redirects are not followed. ' + shownQuery },
}

export const notificationsInput = z.strictObject({
  recipients: z
    .array(z.strictObject({ email, when: when.optional(), digest: digest.default('instant') }))
    .max(maxRecipients)
    .default([]),
  from: mailboxText.nullable().default(null).meta(texts.from),
  reply_to_field: z.string().min(1).max(64).nullable().default(null).meta(texts.replyTo),
  subject_tmpl: z.string().max(500).refine(isOneLine, 'must be on one line, without control characters').default('').meta(texts.subject),
  include_answers: z.boolean().default(true).meta(texts.answers),
  webhook_url: z.string().min(1).max(2048).nullable().default(null).meta(texts.webhook),
  if_match: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'ETag of the revision to replace. Without it, the current revision is replaced unconditionally.' }),
})

export const toOrder = ({ recipients, ...order }: Omit<Decoded<typeof notificationsInput>, 'ifMatch'>): NotificationOrder => ({
  ...order,
  recipients: recipients.map(({ when: condition = null, ...recipient }) => ({ ...recipient, when: condition })),
})

const shape = z
  .object({
    form_id: z.string(),
    revision: z.string().meta({ description: 'Changes with every change of the settings; in quotes, it is the `ETag`.' }),
    recipients: z.array(
      z.object({
        email: z.string(),
        when,
        digest,
        status: z.enum(['member', 'confirmed', 'unconfirmed']).meta({
          description:
            '`unconfirmed` receives no notifications: the address belongs to no member, and its owner has not followed the ' +
            'confirmation link yet.',
        }),
      }),
    ),
    from: z.string().nullable().meta(texts.from),
    reply_to_field: z.string().nullable().meta(texts.replyTo),
    subject_tmpl: z.string().meta(texts.subject),
    include_answers: z.boolean().meta(texts.answers),
    webhook_url: z.string().nullable().meta(texts.webhook),
    webhook_secret: hmacSecret.optional(),
    problem: z
      .object({ at: wireTime, message: z.string() })
      .nullable()
      .meta({ description: 'Why the last mail could not be sent. It is retried up to six times within about 21 hours.' }),
    updated_at: wireTime,
  })
  .meta({ id: 'FormNotifications' })

export const notifications = encoderOf(shape, ({ revision, settings, recipients, secret }: ShownNotifications) => ({
  form_id: settings.id,
  revision,
  recipients: recipients.map(({ email: address, when: condition, digest: rhythm, status }) => ({
    ...{ email: address, when: condition === null ? null : { ...condition }, digest: rhythm, status },
  })),
  ...{ from: settings.from, reply_to_field: settings.replyToField, subject_tmpl: settings.subjectTmpl },
  ...{ include_answers: settings.includeAnswers, webhook_url: settings.webhookUrl === null ? null : shownUrl(settings.webhookUrl) },
  ...(secret !== undefined && { webhook_secret: secret }),
  problem: settings.problem && { at: toWireTime(settings.problem.at), message: settings.problem.message },
  updated_at: toWireTime(settings.updatedAt),
}))
