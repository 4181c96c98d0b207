/** Texts of all screens in four languages. None is cut off or outside of its control or window, on wide and narrow screens. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { openWatched, startHostile } from './look.ts'
import { isScreen } from './screen-list.ts'
import { show, walk } from './screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/**
 * Returns controls, headings and labels with cut text. Excludes names and subjects with an ellipsis, because a tooltip or another page
 * shows the full text. Excludes scrollable content.
 */
const clipped = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const all = 'button, a.button, .tag, .pills a, [role=tab], .nav a, .bottom a, .segments button, th, dt, label, legend, .status, main h2, main h3, td'
    const scrolls = (one) => /auto|scroll/.test(getComputedStyle(one).overflowX)
    const cuts = (one) => getComputedStyle(one).overflowX !== 'visible'
    const faults = []
    for (const one of document.querySelectorAll(all)) {
      if (!one.checkVisibility({ visibilityProperty: true }) || one.closest('.hidden, .skip, .cut, .shell-label, svg, bdi')) continue
      const box = one.getBoundingClientRect()
      if (box.width <= 1 || (one.tagName === 'TD' && cuts(one))) continue
      const say = (what) => faults.push(what + ' ' + one.tagName.toLowerCase() + '.' + one.className + ' ' + one.textContent.trim().slice(0, 40))
      if (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !one.querySelector('.cut, bdi, .hidden')) say('cuts its text:')
      let around = one.parentElement
      while (around && !cuts(around)) around = around.parentElement
      if (around && scrolls(around) && !around.matches('.sheet, .nav, .nav-groups, .panel-inside, dialog, dialog *, aside, section')) continue
      if (box.right > Math.min(innerWidth, around ? around.getBoundingClientRect().right : innerWidth) + 1) say('extends beyond its container:')
    }
    for (const one of document.querySelectorAll('td > .row-buttons, td > button')) {
      const cell = one.parentElement
      const inside = cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight)
      if (one.checkVisibility() && one.getBoundingClientRect().right > inside + 1) faults.push('is wider than its cell: ' + one.textContent)
    }
    return [...new Set(faults)]
  })()`)

/** Returns overlapping buttons of a row or elements next to the title. */
const overlapping = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.top, .top-tools, .row-buttons, .actions, .tabs, .pills, dialog footer')].flatMap((row) => {
    const boxes = [...row.children].filter((one) => one.checkVisibility()).map((one) => [one, one.getBoundingClientRect()])
    return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
      .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
      .map(([other]) => 'overlap: ' + one.textContent.trim().slice(0, 30) + ' | ' + other.textContent.trim().slice(0, 30)))
  })`)

test('every screen: no text is cut in any language, on phones and desktops', async (t) => {
  const server = await startHostile(t, browser)
  const faults: string[] = []
  const look = async (locale: string): Promise<void> => {
    const { page } = await openWatched(t, server, { locale })
    let shownAt = 1440
    await walk(page, isScreen, async ({ kind, path }) => {
      if (kind.startsWith('/docs/api/')) return
      // starts with the width of the previous place, so that most places change the width once
      for (const width of [shownAt, shownAt === 1440 ? 375 : 1440]) {
        if (width !== shownAt) {
          await page.setViewportSize({ width, height: 900 })
          await show(page, path)
          shownAt = width
        }
        const found = [...(await clipped(page)), ...(await overlapping(page))]
        faults.push(...found.map((fault) => `${locale} ${String(width)} ${kind}: ${fault}`))
      }
    })
  }
  await Promise.all(['en', 'de', 'fr', 'it'].map(look))
  t.deepEqual(faults, [])
})
