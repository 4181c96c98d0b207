/** Invoices and credits in Chromium: explained to the day and the project, as files, on paper; grants, alerts and the ledger. */
import { readFile } from 'node:fs/promises'
import type { ExecutionContext } from 'ava'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { makeInvoice } from '../../rest/organization/billing-requests.ts'
import { startDashboard, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const send = { from: 'shop@example.ch', to: 'ada@example.ch', subject: 'x', text: 'x' }

test('an invoice is explained, saved and printed; its credit note leads back to it; credits say where they come from', async (t) => {
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
  await page.keyboard.press('b')
  await page.waitForURL(/\/usage$/)
  await page.click('.areas >> text=Invoices')
  await page.waitForSelector('table[aria-label=Invoices] >> text=/^CN-/')
  await tab.check(t)
  await page.click('table[aria-label=Invoices] >> text=/^CN-/')
  await page.waitForSelector('text=Reason: wrong plan')
  await page.click('text=The invoice that it takes back')
  await page.waitForURL(new RegExp(`/usage/invoices/${invoice}$`))
  await page.waitForSelector('.invoice-state >> text=void')
  await page.waitForSelector('text=paid: by bank, 3 November')
  await page.click('.opener >> text=Captured messages')
  t.regex(await page.innerText('.explained'), /By project\s+Default\s+3\s+By day \(UTC\)\s+\d{4}-\d\d-\d\d\s+3/)
  await tab.check(t)
  await assertFiles(t, page)
  await assertPrints(t, page)
  await assertCredits(t, tab)
})

/** Both say what the page says. */
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
  t.regex(await saved('CSV'), new RegExp(`Total.*,"?${String(total)}"?\\s*$`))
}

async function assertPrints(t: ExecutionContext, page: Page): Promise<void> {
  const opened = page.context().waitForEvent('page')
  await page.click('header >> text=Page to print')
  const paper = await opened
  await paper.waitForSelector('text=This invoice is void.')
  await paper.emulateMedia({ media: 'print' })
  t.true((await paper.pdf()).subarray(0, 5).equals(Buffer.from('%PDF-')))
  await paper.close()
}

async function assertCredits(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await tab.go('/usage/credits')
  await page.waitForSelector('text=812.5 credits are left.')
  t.deepEqual(await page.locator('.grants li b:first-child').allInnerTexts(), ['Monthly, of the plan', '800', 'Purchased', '12.5'])
  await page.waitForSelector('table[aria-label=Ledger] >> text=+12.5')
  await tab.check(t)
}
