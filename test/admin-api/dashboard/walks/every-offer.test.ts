/** Checks every tab, dialog and form of every screen. */
import { testWith } from '../../../support/peers/peers.ts'
import { axeFaults, browserOf, type Page } from '../../../support/web/browser.ts'
import { gateOf } from './gate.ts'
import { openWatched, startHostile } from './look.ts'
import { pressAll, type Reached } from './press.ts'
import { isScreen } from './screen-list.ts'
import { walk } from './screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('every screen: tabs, dialogs and refused forms have no faults', async (t) => {
  const server = await startHostile(t, browser)
  const tabs = await Promise.all([openWatched(t, server), openWatched(t, server), openWatched(t, server)])
  const pages = tabs.map(({ page }) => page)
  const gates = await Promise.all(pages.map(gateOf))
  const faults: string[] = []
  await walk(pages, isScreen, (place, page) =>
    pressAll(page, place, async (what, label) => {
      const found = await wrongAfter(page, what)
      faults.push(...found.map((fault) => `${place.kind}, ${what} ${label.slice(0, 40)}: ${fault}`))
    }),
  )
  t.deepEqual([...faults, ...tabs.flatMap((tab) => tab.faults)], [])
  const attempted = new Set(gates.flatMap((gate) => [...gate.attempted]))
  t.true(attempted.size > 20, [...attempted].join(' '))
})

/** Checks dialogs also in dark mode. */
async function wrongAfter(page: Page, what: Reached): Promise<string[]> {
  const found = await axeFaults(page, { at: [1280] })
  if (what !== 'dialog') return found
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFaults(page, { at: [1280], rules: ['color-contrast'] })))
  await page.emulateMedia({ colorScheme: 'light' })
  return found
}
