/** All services whose clients can send here. A new one needs a file and a line. */
import type { Dialect } from './dialect.ts'
import { brevo } from './dialects/brevo-dialect.ts'
import { mailersend } from './dialects/mailersend-dialect.ts'
import { mailgun } from './dialects/mailgun-dialect.ts'
import { mailjet } from './dialects/mailjet-dialect.ts'
import { postmark } from './dialects/postmark-dialect.ts'
import { resend } from './dialects/resend-dialect.ts'
import { sendgrid } from './dialects/sendgrid-dialect.ts'
import { ses } from './dialects/ses-dialect.ts'
import { sparkpost } from './dialects/sparkpost-dialect.ts'

export const dialects: readonly Dialect[] = [resend, sendgrid, postmark, mailgun, brevo, mailersend, sparkpost, mailjet, ses]
