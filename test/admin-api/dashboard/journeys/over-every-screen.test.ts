/** Overlays of all screens in both themes: palette, API call, shortcuts and menus. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { openHostile, wrongWith } from '../walks/look.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('overlays: palette, API call, shortcuts and menus have no faults', async (t) => {
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
    // controls covered by an open menu become reachable when it closes
    faults.push(...(await wrongWith(page)).filter((fault) => !fault.includes('partially obscured')).map((fault) => `${what}: ${fault}`))
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open], .menu', { state: 'detached' })
  }
  t.deepEqual(faults, [])
})
