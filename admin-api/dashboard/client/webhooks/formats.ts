/** Names of webhook formats and their restrictions. */
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { texts } from './webhooks-texts.ts'

export type Format = WebhookEndpoint['format']

const labels: Readonly<Record<Format, string>> = {
  native: 'Postern',
  resend: 'Resend',
  sendgrid: 'SendGrid',
  postmark: 'Postmark',
  mailgun: 'Mailgun',
  brevo: 'Brevo',
  mailersend: 'MailerSend',
  sparkpost: 'SparkPost',
  mailjet: 'Mailjet',
  ses: 'Amazon SES (SNS)',
}

export const formatLabel = (format: Format): string => labels[format]
export const formatOptions = Object.entries(labels) as readonly (readonly [Format, string])[]

const unsigned: readonly Format[] = ['postmark', 'brevo', 'sparkpost', 'mailjet']
const complete: readonly Format[] = ['native', 'resend', 'postmark']

/** Returns how receivers verify the format, and which events it cannot express. */
export function formatHint(format: Format): string | undefined {
  if (format === 'native') return undefined
  const w = texts()
  const signed = unsigned.includes(format)
    ? w.formatUnsigned
    : format === 'sendgrid'
      ? w.formatKey
      : format === 'ses'
        ? w.formatSns
        : w.formatSecret
  return complete.includes(format) ? signed : `${signed} ${w.formatLacks}`
}
