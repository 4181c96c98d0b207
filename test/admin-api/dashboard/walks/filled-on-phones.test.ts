/** Checks every screen with data on a phone: at 375 pixels, and at 320 pixels without overflow or squeezed words. */
import { testWith } from '../../../support/peers/peers.ts'
import { axeFaults, browserOf, overflows, squeezed } from '../../../support/web/browser.ts'
import { lookAtAll } from './look.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('every screen: linked, and without faults on phones with hostile names', async (t) => {
  const faults = await lookAtAll(t, browser, {}, async (page) => [
    ...(await axeFaults(page, { at: [375] })),
    ...(await overflows(page, [320, 375])).map((width) => `is wider than ${String(width)} px`),
    ...(await squeezed(page)).map((one) => `is squeezed: ${one}`),
  ])
  t.deepEqual(faults, [])
})
