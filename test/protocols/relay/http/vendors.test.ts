import test from '#test'
import { vendorContract } from '../../../contracts/vendor-contract.ts'
import { brevoRules } from '../../../support/vendors/brevo.ts'
import { mailgunRules } from '../../../support/vendors/mailgun.ts'
import { postmarkRules } from '../../../support/vendors/postmark.ts'
import { resendRules } from '../../../support/vendors/resend.ts'
import { sendgridRules } from '../../../support/vendors/sendgrid.ts'
import { sesRules } from '../../../support/vendors/ses.ts'

for (const rules of [sesRules, sendgridRules, mailgunRules, postmarkRules, resendRules, brevoRules]) vendorContract(test.serial, rules)
