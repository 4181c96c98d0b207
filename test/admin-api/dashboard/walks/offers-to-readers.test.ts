/** What who only reads is offered: nothing that changes anything, and of the screens only those that the role may read. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { offersTo } from './offered.ts'

const test = testWith('chromium')
const browser = browserOf(test)

for (const role of ['viewer', 'billing'] as const)
  test(`the role ${role} finds nothing on any screen that would change anything, and is refused it when its browser asks`, async (t) => {
    const { offered, wrongly, open, forms } = await offersTo(t, browser, role)
    t.deepEqual({ wrongly, open, forms }, { wrongly: [], open: [], forms: [] })
    t.deepEqual(
      [...offered].filter((id) => id !== 'deleteMember'),
      [],
    )
  })
