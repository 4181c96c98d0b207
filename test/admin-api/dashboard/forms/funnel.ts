/** Plot of form visitors: for one form with a comparison, and for all forms with a link to submissions. */
import type { ExecutionContext } from 'ava'
import type { DashboardTab } from '../dashboard-server.ts'

/** Requires the page of a form with views. */
export async function assertFunnel(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.click('.form-tabs >> text=Analytics')
  await page.waitForSelector('.plot >> .plot-key >> text=views')
  await page.click('text=Compare')
  await page.waitForSelector('.plot >> .plot-key >> text=submissions, previous period 0')
  await tab.check(t)
  await tab.go('/insights')
  const funnel = '.plot:has(h2:text-is("Forms"))'
  await page.waitForSelector(`${funnel} >> text=per day (UTC), last 7 days`)
  await page.click(`${funnel} >> .plot-key >> a:text-is("spam")`)
  await page.waitForURL(/\/forms\/submissions\?status=spam&from=.*&to=/)
  await page.click('.sub-filters a[aria-current]:has-text(" to ")')
  await page.waitForURL(/\/forms\/submissions\?status=spam$/)
}
