/** Every dashboard screen without data, during loading, after a failure, and without permission. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf, overflows, squeezed, type Page } from '../../../support/web/browser.ts'
import { startDashboard } from '../dashboard-server.ts'
import { gateOf, type Mode } from './gate.ts'
import { openWatched, startHostile, wrongWith } from './look.ts'
import { isScreen, pathsBeyond, screenPaths } from './screen-list.ts'
import { goTo, show, walk } from './screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const shownIn = {
  held: '.loading',
  failing: 'main [role=alert]',
  forbidden: 'main >> text=Your role does not allow this',
} as const satisfies Record<Exclude<Mode, 'through'>, string>

test('every screen: no faults while loading, failed or forbidden', async (t) => {
  const server = await startHostile(t, browser)
  const tabs = await Promise.all(Object.keys(shownIn).map(() => openWatched(t, server)))
  const places = await walk(
    tabs.map(({ page }) => page),
    isScreen,
    () => Promise.resolve(),
  )
  const faults = pathsBeyond(places).map((path) => `no link leads to ${path}`)
  const lookWhile = async (mode: keyof typeof shownIn, page: Page): Promise<void> => {
    const gate = await gateOf(page)
    gate.mode = mode
    await page.reload() // without the lists that the walk has read
    for (const { kind, path } of places.filter((one) => reads(one.kind) && !(mode === 'forbidden' && isOpen(one.kind)))) {
      await goTo(page, path)
      const found = await page.waitForSelector(`${shownIn[mode]} >> visible=true`, { timeout: 50_000 }).catch(() => undefined)
      if (!found) faults.push(`${mode}, ${kind}: does not show its state`)
      faults.push(...(await wrongWith(page)).map((fault) => `${mode}, ${kind}: ${fault}`))
      if ((await overflows(page, [320])).length > 0) faults.push(`${mode}, ${kind}: is wider than 320 px`)
      faults.push(...(await squeezed(page)).map((one) => `${mode}, ${kind}: is squeezed at 320 px: ${one}`))
    }
  }
  const modes = Object.keys(shownIn) as (keyof typeof shownIn)[]
  await Promise.all(tabs.map(({ page }, at) => lookWhile(modes[at] ?? 'held', page)))
  t.deepEqual(faults, [])
})

/** Screens that read nothing from the service: settings of the browser, and the list of sections, which opens the first one. */
const local: ReadonlySet<string> = new Set(['/settings', '/settings/preferences'])

const reads = (kind: string): boolean => !kind.includes(' ') && !local.has(kind)

/** Whether the screen is public and therefore never forbidden. */
const isOpen = (kind: string): boolean => kind.startsWith('/docs/')

/** Screens that are never empty, because they show the current user or built-in data. */
const neverEmpty: ReadonlySet<string> = new Set([
  ...['/docs/api', '/operator', '/operator/organizations', '/insights', '/settings', '/settings/preferences', '/settings/you'],
  ...['/settings/project', '/settings/keys', '/settings/alerts', '/settings/organization', '/settings/members', '/settings/projects'],
  ...['/settings/usage', '/settings/audit', '/settings/import', '/destinations/new'],
])

test('every screen: explains its empty state without faults', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'olga@alpenblick.example' })
  const { page, faults } = await openWatched(t, server)
  const wrong: string[] = []
  for (const path of ['/', ...screenPaths.filter((one) => !one.includes('{'))]) {
    await show(page, path)
    const says = 'main :is(.state h2, .steps, .no-rows)'
    if (!neverEmpty.has(path) && (await page.locator(says).count()) === 0) wrong.push(`${path}: does not explain its empty state`)
    if (/undefined|NaN|\[object/.test(await page.innerText('main'))) wrong.push(`${path}: shows a missing value`)
    wrong.push(...(await wrongWith(page)).map((fault) => `${path}: ${fault}`))
    await page.click('[title="This screen as an API call"]')
    if (path !== '/settings/preferences' && !/curl .*\/(?:v1|openapi)/.test(await page.innerText('.drawer')))
      wrong.push(`${path}: has no API call`)
    await page.keyboard.press('Escape')
    await page.waitForSelector('.drawer', { state: 'detached' })
  }
  t.deepEqual([...wrong, ...faults], [])
})
