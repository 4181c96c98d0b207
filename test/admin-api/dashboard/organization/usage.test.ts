/** Usage and plan in Chromium: a month with its projection, all plans, the request for a larger one, and visibility by role. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const hostile = '<img src=x onerror=alert(1)>\u202etxt'

test('usage: limits, a month by metric and project, plans with the current one', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  await server.daemon.rest.must('POST', '/v1/projects', { name: hostile })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.click('.nav >> text=Settings')
  await page.click('.sections >> text=Usage and plan')
  await page.waitForURL(/\/settings\/usage$/)
  await page.waitForSelector('text=You are on the enterprise plan.')
  await page.waitForSelector('table[aria-label="Used in the month"] >> text=Captured messages')
  const { sends } = (await server.daemon.rest.must('GET', '/v1/usage')) as { sends: number }
  t.true(sends > 0)
  t.regex(
    await page.innerText('table[aria-label="Used in the month"] tbody tr:has(td:text-is("Sends"))'),
    new RegExp(`Sends\\s+${String(sends)}\\s`),
  )
  await page.waitForSelector('th:has-text("Unit price")')
  await page.waitForSelector('.usage-total >> text=/Month to date: CHF \\d+\\.\\d\\d, including tax/')
  await page.waitForSelector('table[aria-label="By project"] >> text=U+202E')
  await page.waitForSelector('th:has-text("enterprise") >> text=current')
  t.is(await page.innerText('table[aria-label=Plans] tr:has-text("Sends per day") td >> nth=2'), '100')
  t.is(await page.locator('header >> text=Request a plan change').count(), 0, 'no larger plan exists')
  await tab.check(t)
  const before = await page.locator('#usage-month ~ * select option, section select option').nth(1).innerText()
  await page.getByRole('combobox', { name: 'Month (UTC)' }).selectOption(before)
  await page.waitForURL(new RegExp(`period=${before}`))
  await page.waitForSelector('table[aria-label="Used in the month"]')
  await tab.check(t)
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /\/v1\/usage\?period=/)
})

test('usage: text of a plan request; agreed terms next to the plans', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_PLAN: 'basic', POSTERN_OPERATORS: 'olga@alpenblick.example' })
  const tab = await server.open()
  const { page } = tab
  await tab.go('/settings/usage')
  await page.click('header >> text=Request a plan change')
  await page.waitForSelector('blockquote >> text=/to pro\\. The current plan is basic/')
  await page.getByRole('combobox', { name: 'Plan' }).selectOption('enterprise')
  await page.waitForSelector('blockquote >> text=/to enterprise\\./')
  await tab.check(t)
  await page.click('dialog >> text=Copy request')
  await page.waitForSelector('.toast')
  const id = String(((await server.daemon.rest.must('GET', '/v1/organizations'))['data'] as [{ id: string }])[0].id)
  await tab.go(`/operator/organizations/${id}?tab=limits`)
  await page.getByLabel('Override: templates').fill('77')
  await page.click('text=Save limits')
  await page.waitForSelector('.toast')
  await tab.go('/settings/usage')
  await page.waitForSelector('table[aria-label=Plans] tr:has-text("Templates") td:last-child >> text=77')
  await page.waitForSelector('text=Your agreement with the operator')
  await tab.check(t)
})

test('usage: viewers cannot request plans; billing sees only usage and invoices', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_PLAN: 'basic' })
  const { page, go, check } = await openAs(browser, server, 'viewer')
  await go('/settings/usage')
  await page.waitForSelector('text=Only an administrator of the organization can request')
  t.is(await page.locator('header >> text=Request a plan change').count(), 0)
  t.is(await page.locator('header >> text=Invoice preview').count(), 0)
  await check(t)
  const billing = await openAs(browser, server, 'billing')
  await billing.page.waitForSelector('text=Your role has access only to billing')
  await billing.check(t)
  t.deepEqual(await billing.page.locator('nav.nav .nav-group a').allInnerTexts(), ['Settings', 'Docs'])
  await billing.page.click('main >> text=Usage and plan')
  await billing.page.waitForSelector('text=You are on the basic plan.')
  await billing.page.waitForSelector('th:has-text("basic") >> text=current')
  await billing.page.waitForSelector('table[aria-label="Used in the month"] >> text=Captured messages')
  t.is(await billing.page.locator('header >> text=Request a plan change').count(), 0)
  await billing.check(t)
  await billing.page.click('header >> text=Invoice preview')
  await billing.page.waitForURL(/\/organizations\/org_[0-9a-f]+\/usage/)
})

test('usage: reports failures, translated', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_PLAN: 'free' })
  for (const [locale, say, failed] of [
    ['de', 'Sie haben den Plan free.', 'Die Nutzung konnte nicht geladen werden'],
    ['fr', 'Vous avez le forfait free.', 'Impossible de charger l’usage'],
    ['it', 'Il piano è free.', 'Impossibile caricare l’uso'],
  ] as const) {
    const tab = await server.open({ locale })
    const { page } = tab
    await tab.go('/settings/usage')
    await page.waitForSelector(`text=${say}`)
    await page.waitForSelector('table.plans')
    await tab.check(t)
    await page.route('**/v1/usage*', (route) => route.abort())
    await tab.go('/settings/usage')
    await page.waitForSelector(`text=${failed}`)
    await page.waitForSelector('table.plans')
    await tab.check(t)
    await page.context().close()
  }
})
