/** The formats by name: one file each, and one line here. The native one is the stored event itself. */
import type { DeliveryType } from '../delivery.ts'
import { brevo } from './brevo.ts'
import type { Format } from './format.ts'
import type { WebhookFormat } from './format-names.ts'
import { mailersend } from './mailersend.ts'
import { mailgun } from './mailgun.ts'
import { mailjet } from './mailjet.ts'
import { postmark } from './postmark.ts'
import { resend } from './resend.ts'
import { sendgrid } from './sendgrid.ts'
import { ses } from './ses.ts'
import { sparkpost } from './sparkpost.ts'

export const formats: Readonly<Record<Exclude<WebhookFormat, 'native'>, Format>> = {
  ...{ resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses },
}

/** Whether an endpoint of the format can be sent events of the type. */
export function says(format: WebhookFormat | undefined, type: DeliveryType): boolean {
  if (format === undefined || format === 'native') return type !== 'subscription_confirmation'
  return formats[format].says.has(type)
}

/** What is noted where it cannot. */
export const unsaid = (format: WebhookFormat, type: DeliveryType): string =>
  `The format ${format} has no event for ${type}, so nothing was sent; with another format of the endpoint it can be sent again.`
