import test from '#test'
import { vendorContract, vendorFixture } from '../../../contracts/vendor-contract.ts'
import { mailersendRules } from '../../../support/vendors/mailersend-double.ts'
import { mailjetRules } from '../../../support/vendors/mailjet-double.ts'
import { msgraphRules } from '../../../support/vendors/msgraph-double.ts'
import { scalewayRules } from '../../../support/vendors/scaleway-double.ts'
import { smtp2goRules } from '../../../support/vendors/smtp2go-double.ts'
import { sparkpostRules } from '../../../support/vendors/sparkpost-double.ts'

for (const rules of [mailjetRules, sparkpostRules, mailersendRules, smtp2goRules, scalewayRules, msgraphRules])
  vendorContract(test.serial, rules)

test('HttpTransport: Microsoft Graph tokens are separate for each transport', async (t) => {
  const one = await vendorFixture(t, msgraphRules)
  const other = await vendorFixture(t, msgraphRules)
  const { double, target } = one
  for (const { transport } of [one, one, other]) {
    const steps = await transport.probe(target, new AbortController().signal)
    t.true(steps.every(({ ok }) => ok))
  }
  t.is(double.requests.filter(({ path }) => path.endsWith('/oauth2/v2.0/token')).length, 2)
})
