/** What opens over every screen of the dashboard: palette, call, keys and menus, in both themes. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { openHostile, wrongWith } from '../walks/look.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('the palette, the call behind a screen, the keys and the menus are in order', async (t) => {
  const tab = await openHostile(t, browser)
  const { page } = tab
  const faults: string[] = []
  for (const [what, open] of [
    ['palette', () => page.keyboard.press('Control+k')],
    ['call', () => page.click('[title="This screen as an API call"]')],
    ['keys', () => page.keyboard.press('?')],
    ['projects', () => page.click('.project')],
    ['account', () => page.click('.nav-account')],
  ] as const) {
    await open()
    await page.waitForSelector('dialog[open], .menu')
    // what an open menu covers in part is reached again once it is closed
    faults.push(...(await wrongWith(page)).filter((fault) => !fault.includes('partially obscured')).map((fault) => `${what}: ${fault}`))
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open], .menu', { state: 'detached' })
  }
  t.deepEqual(faults, [])
})
