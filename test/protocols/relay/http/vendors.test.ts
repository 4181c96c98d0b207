import test from '#test'
import { vendorContract } from '../../../contracts/vendor-contract.ts'
import { brevoRules } from '../../../support/vendors/brevo-double.ts'
import { mailgunRules } from '../../../support/vendors/mailgun-double.ts'
import { postmarkRules } from '../../../support/vendors/postmark-double.ts'
import { resendRules } from '../../../support/vendors/resend-double.ts'
import { sendgridRules } from '../../../support/vendors/sendgrid-double.ts'
import { sesRules } from '../../../support/vendors/ses-double.ts'

for (const rules of [sesRules, sendgridRules, mailgunRules, postmarkRules, resendRules, brevoRules]) vendorContract(test.serial, rules)
