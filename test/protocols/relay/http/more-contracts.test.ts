import test from '#test'
import { vendorContract } from '../../../contracts/vendor-contract.ts'
import { mailersendRules } from '../../../support/vendors/mailersend.ts'
import { mailjetRules } from '../../../support/vendors/mailjet.ts'
import { msgraphRules } from '../../../support/vendors/msgraph.ts'
import { scalewayRules } from '../../../support/vendors/scaleway.ts'
import { smtp2goRules } from '../../../support/vendors/smtp2go.ts'
import { sparkpostRules } from '../../../support/vendors/sparkpost.ts'

for (const rules of [mailjetRules, sparkpostRules, mailersendRules, smtp2goRules, scalewayRules, msgraphRules])
  vendorContract(test.serial, rules)
