/** What is wrong with a screen as it is shown, and a dashboard of which everything has a hostile name. */
import type { ExecutionContext } from 'ava'
import { axeFaults, overflows, type Browser, type Page } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardTab } from '../dashboard-server.ts'
import { seedHostile } from './hostile-things.ts'

const desk = [1280]

/** Elements that only markup in a name can have made. */
const injected = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('body script, body iframe:not([sandbox]), [onerror], [onload], [onclick], img:not([src^="/"])')]
    .map((one) => one.outerHTML.slice(0, 200))`)

/** What is wrong with what is shown: at a desk in both themes, and, where it is asked for, on a phone. */
export async function wrongWith(page: Page, { alsoOnPhones = false } = {}): Promise<string[]> {
  const faults = await axeFaults(page, { at: alsoOnPhones ? [320, 1280] : desk })
  if (alsoOnPhones) faults.push(...(await overflows(page)).map((width) => `is wider than ${String(width)} px`))
  await page.emulateMedia({ colorScheme: 'dark' })
  faults.push(...(await axeFaults(page, { at: desk, rules: ['color-contrast'] })).map((fault) => `dark: ${fault}`))
  await page.emulateMedia({ colorScheme: 'light' })
  return [...faults, ...(await injected(page)).map((one) => `was made of a name: ${one}`)]
}

export async function openHostile(t: ExecutionContext, browser: () => Browser): Promise<DashboardTab> {
  const server = await startDashboard(t, browser)
  await seedHostile(t, server)
  const tab = await server.open()
  tab.page.on('dialog', (dialog) => void dialog.dismiss().then(() => t.fail(`a script ran at ${tab.page.url()}`)))
  return tab
}
