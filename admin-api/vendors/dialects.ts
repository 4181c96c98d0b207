/** Every service whose clients can send here; a new one is a file and a line. */
import type { Dialect } from './dialect.ts'
import { brevo } from './dialects/brevo.ts'
import { mailersend } from './dialects/mailersend.ts'
import { mailgun } from './dialects/mailgun.ts'
import { mailjet } from './dialects/mailjet.ts'
import { postmark } from './dialects/postmark.ts'
import { resend } from './dialects/resend.ts'
import { sendgrid } from './dialects/sendgrid.ts'
import { ses } from './dialects/ses.ts'
import { sparkpost } from './dialects/sparkpost.ts'

export const dialects: readonly Dialect[] = [resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses]
