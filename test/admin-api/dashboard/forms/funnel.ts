/** The way of visitors through forms as a plot: that of one form, compared, and that of all, which leads to submissions. */
import type { ExecutionContext } from 'ava'
import type { DashboardTab } from '../dashboard-server.ts'

/** On the page of a form that was seen. */
export async function assertFunnel(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.click('.form-tabs >> text=Analytics')
  await page.waitForSelector('.plot >> .plot-key >> text=views')
  await page.click('text=Compare')
  await page.waitForSelector('.plot >> .plot-key >> text=submissions, period before 0')
  await tab.check(t)
  await tab.go('/insights')
  const funnel = '.plot:has(h2:text-is("Forms"))'
  await page.waitForSelector(`${funnel} >> text=per day (UTC), last 7 days`)
  await page.click(`${funnel} >> .plot-key >> a:text-is("spam")`)
  await page.waitForURL(/\/forms\/submissions\?status=spam&from=.*&to=/)
  await page.click('.sub-filters a[aria-current]:has-text(" to ")')
  await page.waitForURL(/\/forms\/submissions\?status=spam$/)
}
