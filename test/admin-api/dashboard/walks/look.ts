/** Finds faults of displayed screens in a dashboard where every resource has a hostile name. */
import type { ExecutionContext } from 'ava'
import { axeFaults, type Browser, type Page } from '../../../support/web/browser.ts'
import { siteSettings } from '../../sites/site-client.ts'
import { startDashboard, type DashboardServer, type DashboardTab, type TabOptions } from '../dashboard-server.ts'
import { letInHostile, seedHostile } from './hostile-things.ts'
import { isScreen, pathsBeyond } from './screen-list.ts'
import { walk, type Place } from './screen-walk.ts'

const desk = [1280]

/** Returns elements that can only stem from markup in a name. */
const injected = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('body script, body iframe:not([sandbox]), [onerror], [onload], [onclick], img:not([src^="/"])')]
    .map((one) => one.outerHTML.slice(0, 200))`)

/** Returns faults at desktop width in both themes. */
export async function wrongWith(page: Page): Promise<string[]> {
  const faults = await axeFaults(page, { at: desk })
  await page.emulateMedia({ colorScheme: 'dark' })
  faults.push(...(await axeFaults(page, { at: desk, rules: ['color-contrast'] })).map((fault) => `dark: ${fault}`))
  await page.emulateMedia({ colorScheme: 'light' })
  return [...faults, ...(await madeOfNames(page))]
}

/** Returns tables wider than their container, and tables with less than 90 pixels for the name of a row. */
export const starved = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main table')].filter((table) => table.checkVisibility()).flatMap((table) => {
    const place = table.parentElement
    const isWider = table.offsetWidth > place.clientWidth + 1 && !/auto|scroll/.test(getComputedStyle(place).overflowX)
    const room = (cell) => cell.clientWidth - parseFloat(getComputedStyle(cell).paddingLeft) - parseFloat(getComputedStyle(cell).paddingRight)
    const names = [...table.querySelectorAll('tbody tr:first-child td.strong')].filter((cell) => room(cell) < 90)
    return [...(isWider ? ['is wider than its container'] : []), ...names.map((cell) => 'leaves a name ' + room(cell) + ' px')]
      .map((fault) => 'the table ' + table.ariaLabel + ' ' + fault)
  })`)

export const madeOfNames = async (page: Page): Promise<string[]> => (await injected(page)).map((one) => `element created by a name: ${one}`)

/** Starts a service with a hostile name for every resource. Its owner is also its operator. */
export async function startHostile(t: ExecutionContext, browser: () => Browser): Promise<DashboardServer> {
  const server = await startDashboard(t, browser, { ...siteSettings, POSTERN_OPERATORS: 'olga@alpenblick.example' })
  await seedHostile(t, server)
  const owner = await server.open()
  await letInHostile(server)
  await owner.page.context().close()
  return server
}

export async function openHostile(t: ExecutionContext, browser: () => Browser): Promise<DashboardTab> {
  return openWatched(t, await startHostile(t, browser))
}

/** Opens a tab. The test fails if a script opens a dialog in it. */
export async function openWatched(t: ExecutionContext, server: DashboardServer, options: TabOptions = {}): Promise<DashboardTab> {
  const tab = await server.open(options)
  tab.page.on('dialog', (dialog) => void dialog.dismiss().then(() => t.fail(`a script ran at ${tab.page.url()}`)))
  return tab
}

const tabsAtOnce = 3

/** Visits every screen in several tabs at once. Returns faults, console errors, error responses, and dashboard paths without a link. */
export async function lookAtAll(
  t: ExecutionContext,
  browser: () => Browser,
  options: TabOptions,
  wrong: (page: Page, place: Place) => Promise<readonly string[]>,
): Promise<string[]> {
  const server = await startHostile(t, browser)
  const tabs = await Promise.all(Array.from({ length: tabsAtOnce }, () => openWatched(t, server, options)))
  const faults: string[] = []
  const pages = tabs.map(({ page }) => page)
  const places = await walk(pages, isScreen, async (place, page) => {
    const found = [...(await wrong(page, place)), ...(await madeOfNames(page))]
    faults.push(...found.map((fault) => `${place.kind}: ${fault}`))
  })
  faults.push(...pathsBeyond(places).map((path) => `no link leads to ${path}`))
  return [...faults, ...tabs.flatMap((tab) => [...tab.faults, ...tab.refusals])]
}
