/** Invoices and credits in Chromium: breakdown by day and project, downloads, print view, grants, alerts and the ledger. */
import { readFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import { transact } from '#core/writes/transact.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { siteSettings } from '../../sites/site-client.ts'
import { makeInvoice } from '../../rest/organization/billing-requests.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const send = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' }

test('invoices: explain, download, print, credit note; sources of credits', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_PLAN: 'basic' })
  const { daemon } = server
  const { register, credits } = daemon.part('rest').billing
  for (let i = 0; i < 3; i++) await daemon.rest.must('POST', '/v1/messages', send)
  const { invoice } = await makeInvoice(daemon)
  await register.mark(invoice, 'paid', 'by bank, 3 November')
  await register.void(invoice, 'wrong plan', false)
  await credits.give(daemon.organizationId, { kind: 'purchased', amountUcr: 12_500_000, note: 'order 7', expiresAt: null })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/')
  await page.keyboard.press('g')
  await page.keyboard.press(',')
  await page.click('.sections >> text=Invoices')
  await page.waitForURL(/\/settings\/invoices$/)
  await page.waitForSelector('table[aria-label=Invoices] >> text=/^CN-/')
  await tab.check(t)
  await page.click('table[aria-label=Invoices] >> text=/^CN-/')
  await page.waitForSelector('text=Reason: wrong plan')
  await page.click('text=Canceled invoice')
  await page.waitForURL(new RegExp(`/settings/invoices/${invoice}$`))
  await page.waitForSelector('.invoice-state >> text=void')
  await page.waitForSelector('text=paid: by bank, 3 November')
  await page.click('.opener >> text=Captured messages')
  t.regex(await page.innerText('.explained'), /By project\s+Default\s+3\s+By day \(UTC\)\s+\d{4}-\d\d-\d\d\s+3/)
  await tab.check(t)
  await assertFiles(t, page)
  await assertPrints(t, page)
  await assertCredits(t, tab)
  await assertBurnDown(t, tab, server)
})

/** Both files contain the values of the page. */
async function assertFiles(t: ExecutionContext, page: Page): Promise<void> {
  const saved = async (name: string): Promise<string> => {
    const download = page.waitForEvent('download')
    await page.click(`header >> text=${name}`)
    return readFile(await (await download).path(), 'utf8')
  }
  const { lines, total_rappen: total } = JSON.parse(await saved('JSON')) as {
    lines: { quantity: number; axis: string }[]
    total_rappen: number
  }
  t.is(lines.find(({ axis }) => axis === 'captures')?.quantity, 3)
  t.regex(await saved('CSV'), new RegExp(`Total.*,"?${String(total)}"?,,,\\s*$`))
}

async function assertPrints(t: ExecutionContext, page: Page): Promise<void> {
  const opened = page.context().waitForEvent('page')
  await page.click('header >> text=Printable page')
  const paper = await opened
  await paper.waitForSelector('text=This invoice is void.')
  await paper.emulateMedia({ media: 'print' })
  t.true((await paper.pdf()).subarray(0, 5).equals(Buffer.from('%PDF-')))
  await paper.close()
}

async function assertCredits(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await tab.go('/settings/credits')
  await page.waitForSelector('text=Credits left: 812.5')
  t.deepEqual(await page.locator('.grants li b:first-child').allInnerTexts(), ['Monthly, from the plan', '800', 'Purchased', '12.5'])
  await page.waitForSelector('table[aria-label=Ledger] >> text=+12.5')
  const plot = '.plot:has(h2:text-is("Credits left"))'
  await page.waitForSelector(`${plot} >> .plot-key >> text=balance 812.5`)
  await tab.check(t)
}

/** Traffic of 40 GiB per day uses 400 credits, more than the monthly allowance. */
async function assertBurnDown(t: ExecutionContext, { page }: DashboardTab, { daemon }: DashboardServer): Promise<void> {
  const { database, organizationId } = daemon
  const { credits } = daemon.part('rest').billing
  const use = { organizationId, siteId: 'site_1', trafficBytes: 40 * 2 ** 30, storedByteMs: 0n, untilMs: Date.now() }
  await transact(database, { organizationId }, (change) => credits.settle(change, use))
  await page.reload()
  const plot = '.plot:has(h2:text-is("Credits left"))'
  await page.waitForSelector(`${plot} >> .plot-key >> text=balance 412.5`)
  await page.waitForSelector(`${plot} >> .plot-key >> text=/forecast from the last 7 days until \\d/`)
  await page.click('text=Compare')
  await page.waitForSelector(`${plot} >> .plot-key >> text=Previous period`)
  await page.click('[aria-label="Show as table: Credits left"]')
  t.regex(await page.innerText(`${plot} tbody`), /412\.5\s+412\.5[^]*\s0/)
  t.regex(await page.innerText(`${plot} tbody`), /\+12\.5 credits/)
}

test('operator billing: record payment, void, grant credits, take a site down', async (t) => {
  const settings = { ...siteSettings, POSTERN_PLAN: 'basic', POSTERN_OPERATORS: 'olga@alpenblick.example' }
  const server = await startDashboard(t, browser, settings)
  const { daemon } = server
  await daemon.rest.must('POST', '/v1/sites', { slug: 'alpenblick' })
  await makeInvoice(daemon)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/operator')
  await page.click('.areas >> text=Invoices')
  await page.waitForSelector('.state >> text=/^No invoices for/')
  await page.click('a >> text=Close a month')
  await page.click('dialog footer >> text=Close a month')
  await page.waitForSelector('.toast >> text=/is closed: 0 new invoices, 0 existing/')
  await page.getByRole('combobox', { name: 'Month (UTC)' }).selectOption({ index: 0 })
  await page.click('table[aria-label=Invoices] tbody tr td a')
  await actOnInvoice(t, tab)
  const one = `/operator/organizations/${daemon.organizationId}`
  await tab.go(`${one}?tab=invoices`)
  await page.click('main >> text="Edit"')
  await tab.fill('Name and address', 'Alpenblick GmbH\n\n7000 Chur')
  await tab.fill('VAT rate (%)', '8.1')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.invoice-facts >> text=7000 Chur')
  await tab.check(t)
  await page.click('[role=tab] >> text=Credits')
  await page.click('main >> text=Grant credits')
  await page.getByRole('textbox', { name: 'Credits', exact: true }).fill('12.5')
  await page.click('dialog footer >> text=Grant credits')
  await page.waitForSelector('text=Credits left: 812.5')
  await tab.check(t)
  await takeDown(t, tab)
})

async function actOnInvoice(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.click('.invoice-doing >> text=Record payment')
  await tab.fill('Note', 'by bank')
  await page.click('dialog footer >> text=Record payment')
  await page.waitForSelector('text=paid: by bank')
  await tab.check(t)
  const [number = ''] = (await page.title()).split(' ')
  await page.click('.invoice-doing >> text=Cancel invoice')
  await tab.fill('Reason', 'wrong plan')
  await tab.fill(`Type ${number} to confirm`, number)
  await page.click('dialog footer >> text=Cancel invoice')
  await page.waitForSelector('text=Reason: wrong plan')
  t.is(await page.locator('.invoice-doing button').count(), 0, 'a credit note is final')
}

async function takeDown(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.click('[role=tab] >> text=Websites')
  await page.click('table[aria-label=Websites] >> text=Take down')
  await tab.fill('Reason', 'Order of a court')
  await page.click('dialog footer >> text=Take down')
  await page.waitForSelector('table[aria-label=Websites] >> text=451: Order of a court')
  await tab.check(t)
  await page.click('table[aria-label=Websites] >> text=Restore')
  await page.waitForSelector('.toast >> text=alpenblick is restored.')
  await page.waitForSelector('table[aria-label=Websites] >> text=Take down')
  t.pass()
}
