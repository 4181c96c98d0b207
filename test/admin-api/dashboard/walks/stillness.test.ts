/** No screen moves its content while answers arrive late. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { openWatched, startHostile } from './look.ts'
import { isScreen } from './screen-list.ts'
import { walk } from './screen-walk.ts'
import { delayAnswers, shiftOf, watchShifts } from './shifts.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const answerMs = 400
const mostShift = 0.05
const tabsAtOnce = 3

test('every screen: answers that take 400 ms move nothing', async (t) => {
  const server = await startHostile(t, browser)
  const tabs = await Promise.all(Array.from({ length: tabsAtOnce }, () => openWatched(t, server)))
  const faults: string[] = []
  for (const { page } of tabs) {
    await watchShifts(page)
    await delayAnswers(page, answerMs)
    await page.reload()
  }
  await walk(
    tabs.map(({ page }) => page),
    isScreen,
    async ({ kind }, page) => {
      const { sum, moved } = await shiftOf(page)
      if (sum >= mostShift) faults.push(`${kind}: ${sum.toFixed(3)}\n${moved}`)
    },
  )
  t.deepEqual(faults, [])
})
