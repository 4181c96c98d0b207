/** Checks every screen with data in dark mode, on desktop and phone. */
import { testWith } from '../../../support/peers/peers.ts'
import { axeFaults, browserOf } from '../../../support/web/browser.ts'
import { lookAtAll, starved } from './look.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('every screen: no faults in dark mode with hostile names', async (t) => {
  const faults = await lookAtAll(t, browser, { colorScheme: 'dark' }, async (page) => [
    ...(await axeFaults(page, { at: [1280] })),
    ...(await starved(page)),
    ...(await axeFaults(page, { at: [375], rules: ['color-contrast'] })),
  ])
  t.deepEqual(faults, [])
})
