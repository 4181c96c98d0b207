/** What the role developer is offered: all that it may do, and nothing that is for others. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { offersTo } from './offered.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('the role developer finds nothing on any screen that the service would refuse it', async (t) => {
  const { offered, wrongly, open, forms } = await offersTo(t, browser, 'developer')
  t.deepEqual({ wrongly, open, forms }, { wrongly: [], open: [], forms: [] })
  t.true(offered.size > 10, [...offered].join(' '))
  t.is(offered.has('createInvitation'), false)
  t.true(offered.has('createRoutingRule'))
})
