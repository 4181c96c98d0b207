/** The formats by name: one file each, and one line here. The native one is the stored event itself. */
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

/** Whether an endpoint of the format can be sent events of the type. */
export function says(format: WebhookFormat | undefined, type: DeliveryType): boolean {
  if (format === undefined || format === 'native') return type !== 'subscription_confirmation'
  return formats[format].says.has(type)
}

/** What is noted where it cannot. */
export const unsaid = (format: WebhookFormat, type: DeliveryType): string =>
  `The format ${format} has no event for ${type}, so nothing was sent; with another format of the endpoint it can be sent again.`
