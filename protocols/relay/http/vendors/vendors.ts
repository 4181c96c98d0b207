/** Creates the vendor of each provider. */
import type { HttpProvider } from '#config/mail/providers.ts'
import { brevo } from './brevo.ts'
import { mailersend } from './mailersend.ts'
import { mailgun } from './mailgun.ts'
import { mailjet } from './mailjet.ts'
import { msgraph } from './msgraph.ts'
import { postmark } from './postmark.ts'
import { resend } from './resend.ts'
import { scaleway } from './scaleway.ts'
import { sendgrid } from './sendgrid.ts'
import { ses } from './ses.ts'
import { smtp2go } from './smtp2go.ts'
import { sparkpost } from './sparkpost.ts'
import type { Vendor } from '../contract/vendor.ts'

export const makeVendors = (): Readonly<Record<HttpProvider, Vendor>> => ({
  ...{ ses, sendgrid, mailgun, postmark, resend, brevo },
  ...{ mailjet, sparkpost, mailersend, smtp2go, scaleway, msgraph: msgraph() },
})
