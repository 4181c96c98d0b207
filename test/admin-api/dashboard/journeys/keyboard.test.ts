/**
 * Dashboard by keyboard only. Every control is reachable and visible, captures and traces are readable, and single keys can be switched
 * off.
 */
import { testWith } from '../../../support/peers/peers.ts'
import { becomesTrue, browserOf, skipFaults, type Page } from '../../../support/web/browser.ts'
import { startDashboard } from '../dashboard-server.ts'
import { seed } from '../seed.ts'
import { isScreen } from '../walks/screen-list.ts'
import { walk } from '../walks/screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** The focused element, and whether it is visible in the window with a focus mark. */
interface Stop {
  readonly what: string
  readonly isSeen: boolean
}

const stop = (page: Page): Promise<Stop | null> =>
  page.evaluate(`(() => {
    const one = document.activeElement
    if (!one || one === document.body) return null
    const style = getComputedStyle(one)
    const { width, height, top, bottom, left, right } = one.getBoundingClientRect()
    const isMarked = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none' || one.tagName === 'IFRAME'
      || one.tagName === 'TR' || (one.closest('.query-bar, label') && getComputedStyle(one.closest('.query-bar, label')).outlineStyle !== 'none')
    const isInside = width > 0 && height > 0 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
    one.dataset.reached = ''
    return { what: one.outerHTML.slice(0, 120), isSeen: Boolean(isMarked) && isInside }
  })()`)

/** Returns visible controls that Tab did not reach. Excludes tabs, rows and radio buttons, which arrow keys reach. */
const unreached = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('#app :is(a[href], button, input, select, textarea, summary, [tabindex="0"])')]
    .filter((one) => one.tabIndex >= 0 && !('reached' in one.dataset) && !one.disabled && one.type !== 'radio' && one.checkVisibility({ visibilityProperty: true }))
    .map((one) => one.outerHTML.slice(0, 120))`)

const most = 400

test('keyboard: Tab reaches every control of every screen with a visible focus', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { page } = await server.open()
  const faults: string[] = []
  await walk(page, isScreen, async ({ kind }) => {
    if (kind.includes(' ') || kind.startsWith('/docs/')) return
    await page.evaluate(
      `document.activeElement?.blur(); for (const one of document.querySelectorAll('[data-reached]')) delete one.dataset.reached`,
    )
    // starts at the previous focus and passes the whole page once
    for (let i = 0, ends = 0; i < most && ends < 2; i++) {
      await page.keyboard.press('Tab')
      const at = await stop(page)
      if (at === null) {
        ends += 1
        continue
      }
      if (!at.isSeen) faults.push(`${kind}: the focus is not visible on ${at.what}`)
    }
    faults.push(...(await unreached(page)).map((one) => `${kind}: never reached ${one}`))
  })
  t.deepEqual(faults, [])
})

test('keyboard: the skip link of every screen moves the focus to its content', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { page } = await server.open()
  const faults: string[] = []
  await walk(page, isScreen, async ({ kind }) => {
    if (!kind.includes(' ')) faults.push(...(await skipFaults(page)))
  })
  t.deepEqual(faults, [])
})

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement?.outerHTML.slice(0, 200) ?? ""')

/** Resolves when the HTML of the focused element starts with this text. */
const hasFocus = (page: Page, wanted: string): Promise<unknown> =>
  becomesTrue(page, `document.activeElement?.outerHTML.startsWith(${JSON.stringify(wanted)})`)

test('keyboard: find, open, read and leave captured mail and traces', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const tab = await server.open()
  const { page } = tab
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  await press('g', 'i')
  await page.waitForSelector('.message-list a')
  await press('j')
  await page.waitForSelector('iframe.paper')
  const first = page.url()
  await press('j')
  await becomesTrue(
    page,
    `((one) => one && one.href === location.href && one.href !== ${JSON.stringify(first)})(document.querySelector('.message-list a[aria-current]'))`,
  )
  await press('k')
  await page.waitForURL(first)
  await page.locator('[role=tab][aria-selected=true]').focus()
  await press('ArrowRight')
  await page.waitForURL(/tab=text/)
  t.regex(await focused(page), /role="tab"[^>]*aria-selected="true"/)
  await page.waitForSelector('.reader-tab')
  await page.click('[title="This screen as an API call"]')
  await page.waitForSelector('.drawer >> text=Response')
  await press('j', 'Control+k', 'Escape')
  await page.waitForSelector('.drawer', { state: 'detached' })
  t.regex(page.url(), /tab=text/, 'the dialog receives the keys, and the page below does not move')
  t.is(await page.locator('dialog').count(), 0)
  await press('Escape')
  await page.waitForURL(/\/captures\/[^/]+$/)
  await press('/')
  await page.keyboard.type('qa+signup@example.test')
  await press('Enter')
  await page.waitForURL(/address=/)
  await press('Escape')
  await page.waitForURL(/\/captures\/[^/?]+$/)
  t.regex(await focused(page), /^<input/, 'Escape clears the filter first')
  await press('Escape', 'g', 't')
  await page.waitForSelector('tbody tr')
  await press('j', 'Enter')
  await page.waitForSelector('.panel .trace-timeline')
  await press('Escape')
  await page.waitForSelector('.panel', { state: 'detached' })
  await hasFocus(page, '<tr')
  t.regex(await focused(page), /^<tr/, 'the focus is back on the row')
  await press('Control+k')
  await page.waitForSelector('dialog[open]')
  await press('Escape')
  await page.waitForSelector('dialog[open]', { state: 'detached' })
  await hasFocus(page, '<tr')
  t.regex(await focused(page), /^<tr/, 'the palette returns the focus')
  await press('/')
  t.regex(await focused(page), /^<input/)
  await page.keyboard.type('jj')
  await press('Escape')
  t.deepEqual([await page.inputValue('.query-bar input'), (await focused(page)).startsWith('<input')], ['', true])
  await press('ArrowDown')
  t.regex(await focused(page), /^<tr/, 'the down key leads to the first row')
  await press('/', 'Escape')
  t.notRegex(await focused(page), /^<input/)
})

test('keyboard: single keys can be switched off; modifier shortcuts still work', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { page, ready } = await server.open()
  await page.click('.nav-account')
  await page.click('.menu >> text=Preferences')
  await page.uncheck('main >> text=Single-key shortcuts')
  await page.click('.nav >> text=Overview')
  for (const round of ['at once', 'after a reload']) {
    await page.evaluate('document.activeElement?.blur()')
    for (const key of ['g', 't', '?', 'n', '/']) await page.keyboard.press(key)
    t.is(new URL(page.url()).pathname, '/', round)
    t.is(await page.locator('dialog[open]').count(), 0, round)
    await page.keyboard.press('Control+k')
    await page.waitForSelector('dialog[open]')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
    await page.reload()
    await ready()
  }
})

test('palette: returns the focus to its previous element, else to the title', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  const { page, go } = await server.open()
  for (const [path, at] of [
    ['/traces', '.query-bar input'],
    ['/settings/keys', 'header a.button'],
    ['/', '.nav-search'],
    ['/captures', '.inboxes a'],
  ] as const) {
    await go(path)
    await page.locator(at).first().focus()
    const before = await focused(page)
    await page.keyboard.press('Control+k')
    await page.waitForSelector('dialog[open]')
    for (let i = 0; i < 25; i++) await page.keyboard.press('ArrowDown')
    const bottoms = `['[role=option][aria-selected=true]', '#palette-list'].map((one) => document.querySelector(one).getBoundingClientRect().bottom)`
    const [choice, list] = (await page.evaluate(bottoms)) as [number, number]
    t.true(choice <= list, 'the choice is visible')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
    await hasFocus(page, before)
    t.is(await focused(page), before, path)
  }
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('Control+k')
  await page.waitForSelector('dialog[open]')
  await page.keyboard.press('Escape')
  await page.waitForSelector('dialog[open]', { state: 'detached' })
  await hasFocus(page, '<h1 id="screen-title"')
  t.regex(await focused(page), /^<h1 id="screen-title"/)
})
