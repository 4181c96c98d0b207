/** Every vendor by its provider. */
import type { HttpProvider } from '#config/providers.ts'
import { brevo } from './brevo.ts'
import { mailgun } from './mailgun.ts'
import { postmark } from './postmark.ts'
import { resend } from './resend.ts'
import { sendgrid } from './sendgrid.ts'
import { ses } from './ses.ts'
import type { Vendor } from './vendor.ts'

export const vendors: Readonly<Record<HttpProvider, Vendor>> = { ses, sendgrid, mailgun, postmark, resend, brevo }
