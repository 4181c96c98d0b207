/** Imports from another service in Chromium: dry run and import of lists and templates; form links with prefilled answers. */
import type { ExecutionContext } from 'ava'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const file = (name: string, text: string) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(text) })

const bounces = 'email,reason,created\nada@example.org,550 5.1.1 unknown,1700000000\nno address,550,1700000000\n'

test('imports: dry run before the import; report skipped rows and templates', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/recipients/suppressions?import=1')
  await page.click('dialog >> text=Import from another service')
  await page.waitForURL(/\/settings\/import$/)
  await tab.check(t)
  await page.setInputFiles('main input[type=file]', file('bounces.csv', bounces))
  await page.getByRole('combobox', { name: 'Service' }).selectOption('sendgrid')
  await page.click('text=Preview import')
  await page.waitForSelector('text=1 address would be added.')
  await page.waitForSelector('text=Nothing is stored yet.')
  await page.waitForSelector('text=/line 3/')
  t.deepEqual((await server.daemon.rest.must('GET', '/v1/suppressions'))['data'], [])
  await tab.check(t)
  await page.click('button:has-text("Import 1 address")')
  await page.waitForSelector('h2:has-text("1 address added.")')
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /service-import\?.*service=sendgrid[^]*--data-binary '@bounces\.csv'/)
  await page.keyboard.press('Escape')
  await page.click('text=View imported addresses')
  await page.waitForSelector('tbody >> text=ada@example.org')
  await brokenOff(t, tab)

  await tab.go('/templates')
  await page.click('.top >> text=Import')
  await page.waitForURL(/what=templates/)
  const templates = [
    { TemplateId: 1, Alias: 'welcome', Name: 'Welcome', Subject: 'Hello {{name}}', TextBody: 'Hello {{name}}', HtmlBody: null },
    { TemplateId: 2, Alias: 'odd', Name: 'Odd', Subject: 'Hello', TextBody: '{{#helper x}}y{{/helper}}', HtmlBody: null },
  ]
  await page.setInputFiles('main input[type=file]', file('templates.json', JSON.stringify(templates)))
  await page.click('text=Preview import')
  await page.waitForSelector('text=1 template would be imported.')
  await page.waitForSelector('li:has-text("Odd") >> text=refused')
  await tab.check(t)
  await page.click('button:has-text("Import 1 template")')
  await page.waitForSelector('h2:has-text("1 template imported.")')
  await page.click('main >> a:has-text("Welcome")')
  await page.waitForURL(/\/templates\/tpl_/)
  await linkWithAnswers(t, server, tab)
})

/** The response ends after its first row. A dry run stores nothing, and an import continues after the stored rows. */
async function brokenOff(t: ExecutionContext, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await tab.go('/settings/import')
  const cut = '{"type":"file","service":"sendgrid"}\n{"type":"progress","row":1}\n'
  await page.route('**/service-import?*dry_run=true*', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: cut }))
  await page.setInputFiles('main input[type=file]', file('bounces.csv', `${bounces}eve@example.org,550,1700000000\n`))
  await page.getByRole('combobox', { name: 'Service' }).selectOption('sendgrid')
  await page.click('text=Preview import')
  await page.waitForSelector('text=The file was not counted to the end.')
  t.is(await page.locator('main >> text=Continue from').count(), 0)
  await page.unrouteAll()
  await page.click('text=Preview import')
  await page.waitForSelector('text=1 address would be added.')
  await page.route('**/service-import?*dry_run=false*', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: cut }))
  await page.click('button:has-text("Import 1 address")')
  await page.waitForSelector('text=Imported up to row 1.')
  await tab.check(t)
  await page.unrouteAll()
  await page.click('text=Continue from row 2')
  await page.waitForSelector('h2:has-text("1 address added.")')
}

/** The link belongs to the published version, and contains a signature for fields that require it. */
async function linkWithAnswers(t: ExecutionContext, { daemon: { rest } }: DashboardServer, tab: DashboardTab): Promise<void> {
  const { page } = tab
  const fields = [
    { key: 'email', type: 'email', label: 'Email', prefill: true },
    { key: 'plan', type: 'hidden', label: 'Plan', source: 'url_param', param: 'p', signed: true },
    { key: 'text', type: 'text', label: 'Text' },
  ]
  const { id } = await rest.must('POST', '/v1/forms', { name: 'Order', definition: { name: 'Order', schema: { version: 1, fields } } })
  await tab.go(`/forms/${String(id)}/embed`)
  await page.waitForSelector('text=Publish the form first')
  await rest.must('POST', `/v1/forms/${String(id)}/publish`, {})
  await page.reload()
  const region = page.getByRole('region', { name: 'Prefilled link' })
  await region.getByLabel('Plan').fill('gold')
  await region.getByLabel('Email').fill('ada@example.org')
  t.is(await region.getByLabel('Text').count(), 0)
  await tab.check(t)
  await region.getByRole('button', { name: 'Create link' }).click()
  const link = new URL(await region.locator('pre').innerText())
  t.is(link.searchParams.get('email'), 'ada@example.org')
  t.is(link.searchParams.get('p'), 'gold')
  t.regex(link.searchParams.get('_sig') ?? '', /^[\w-]{20,}$/)
  await page.goto(link.href)
  t.is(await page.inputValue('input[type=email]'), 'ada@example.org')
}
