/** Every screen of the dashboard while what it reads does not come, is broken, or is not for the role. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { gateOf, type Mode } from './gate.ts'
import { openHostile, wrongWith } from './look.ts'
import { isScreen } from './screen-list.ts'
import { goTo, walk } from './screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

for (const [mode, shown] of [
  ['held', '.loading'],
  ['failing', 'main [role=alert]'],
  ['forbidden', 'main >> text=Your role cannot do this'],
] as const satisfies readonly (readonly [Mode, string])[])
  test(`every screen is in order while what it reads is ${mode}`, async (t) => {
    const { page } = await openHostile(t, browser)
    const gate = await gateOf(page)
    const places = await walk(page, isScreen, () => Promise.resolve())
    const faults: string[] = []
    gate.mode = mode
    for (const { kind, path } of places.filter((one) => !one.kind.includes(' ') && !(mode === 'forbidden' && isOpen(one.kind)))) {
      await goTo(page, path)
      const found = await page.waitForSelector(shown, { timeout: 5000 }).catch(() => undefined)
      if (!found) faults.push(`${kind}: does not say so`)
      faults.push(...(await wrongWith(page)).map((fault) => `${kind}: ${fault}`))
    }
    t.deepEqual(faults, [])
  })

/** What everybody may read is never forbidden. */
const isOpen = (kind: string): boolean => kind.startsWith('/docs/')
