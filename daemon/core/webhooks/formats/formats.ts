/** All formats by name, except the native format, which is the stored event. A new format adds one file and one entry here. */
import type { DeliveryType } from '../delivery.ts'
import { brevo } from './brevo-events.ts'
import type { Format } from './format.ts'
import type { WebhookFormat } from './format-names.ts'
import { mailersend } from './mailersend-events.ts'
import { mailgun } from './mailgun-events.ts'
import { mailjet } from './mailjet-events.ts'
import { postmark } from './postmark-events.ts'
import { resend } from './resend-events.ts'
import { sendgrid } from './sendgrid-events.ts'
import { ses } from './ses-events.ts'
import { sparkpost } from './sparkpost-events.ts'

export const formats: Readonly<Record<Exclude<WebhookFormat, 'native'>, Format>> = {
  ...{ resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses },
}

/** Whether the format supports events of the type. */
export function says(format: WebhookFormat | undefined, type: DeliveryType): boolean {
  if (format === undefined || format === 'native') return type !== 'subscription_confirmation'
  return formats[format].says.has(type)
}

/** Returns the error text for a delivery whose event type the format does not support. */
export const unsaid = (format: WebhookFormat, type: DeliveryType): string =>
  `The format ${format} has no event for ${type}, so nothing was sent. Set another format on the endpoint, then redeliver it.`
