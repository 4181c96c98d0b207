/** Websites in Chromium: creation from an archive, visits at an origin separate from the dashboard, and rollback. */
import type { ExecutionContext } from 'ava'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { builtFormScripts } from '../../../support/web/built.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { zipOf } from '../../../support/web/zip-file.ts'
import { siteSettings } from '../../sites/site-client.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const archive = (heading: string, body = '') => ({
  name: 'Alpenblick Site.zip',
  mimeType: 'application/zip',
  buffer: zipOf([
    {
      path: 'index.html',
      content: `<!doctype html><title>x</title><h1>${heading}</h1><a href="/nowhere">x</a><img src="/logo.png">${body}`,
    },
    { path: 'style.css', content: 'h1 { color: #123 }' },
  ]),
})

test('websites: create from an archive, serve without dashboard data, roll back', async (t) => {
  const server = await startDashboard(t, browser, { ...siteSettings, POSTERN_PLAN: 'basic' })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/websites')
  await page.waitForSelector('.state >> text=npx postern deploy . --site my-site')
  await tab.check(t)
  const progress = holdUpload(page)
  await page.setInputFiles('.file-input', archive('First'))
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'alpenblick-site')
  await tab.fill('Name', 'alpenblick')
  await page.click('dialog >> text=Create')
  await page.waitForSelector('[role=progressbar] >> text=Alpenblick Site.zip')
  progress.release()
  await page.waitForSelector('.toast >> text=Deployed: 2 files. Visitors now see this deploy.')
  await page.waitForSelector('text=alpenblick is live.')
  await tab.check(t)

  const url = await page.locator('.site-address a').getAttribute('href')
  const visitor = await page.context().newPage()
  await visits(t, visitor, String(url), 'First', server.url)
  await page.setInputFiles('.file-input', archive('Second', `<div data-svc-form="${await formOf(server)}"></div>`))
  await page.waitForSelector('table[aria-label=Deploys] tbody tr:nth-child(2)')
  await visits(t, visitor, String(url), 'Second', server.url)
  await submits(t, visitor, server)
  await page.click('table[aria-label=Deploys] >> text=Roll back')
  await page.waitForSelector('.toast >> text="Visitors now see this deploy."')
  await visits(t, visitor, String(url), 'First', server.url)

  await page.click('table[aria-label=Deploys] tbody tr:nth-child(2) a')
  await page.waitForSelector('table[aria-label="Images without alt text"] >> text=/logo.png')
  await page.waitForSelector('table[aria-label="Broken links within the website"] >> text=/nowhere')
  await tab.check(t)
  await endSite(t, tab)
})

/** Holds the next upload until it is released. */
function holdUpload(page: Page): { readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  void page.route('**/deploys?*', async (route) => {
    await promise
    await route.continue()
  })
  return { release: () => resolve(undefined) }
}

/** The website receives no session cookie and cannot read from the service. */
async function visits(t: ExecutionContext, visitor: Page, url: string, heading: string, service: string): Promise<void> {
  const asked = visitor.waitForRequest(`${url}/`)
  await visitor.goto(url)
  t.is(await visitor.innerText('h1'), heading)
  t.is((await (await asked).allHeaders())['cookie'], undefined)
  t.is(await visitor.evaluate('document.cookie'), '')
  const reads = `fetch(${JSON.stringify(`${service}/v1/projects`)}, { credentials: 'include' }).then(() => 'read', () => 'refused')`
  t.is(await visitor.evaluate(reads), 'refused')
}

/** Returns the public id of a published form. */
async function formOf({ daemon: { rest } }: DashboardServer): Promise<string> {
  await builtFormScripts()
  const definition = { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] }
  const { id, public_id: publicId } = await rest.must('POST', '/v1/forms', {
    name: 'Newsletter',
    definition: { name: 'Newsletter', schema: definition },
  })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  return String(publicId)
}

/** The form works, although the page has no script. */
async function submits(t: ExecutionContext, visitor: Page, { daemon: { rest } }: DashboardServer): Promise<void> {
  await visitor.getByLabel('Email').fill('ada@example.ch')
  await visitor.getByRole('button', { name: 'Send' }).click()
  await visitor.waitForSelector('text=/Thank you/')
  const [form] = (await rest.must('GET', '/v1/forms'))['data'] as { id: string }[]
  const { data } = await rest.must('GET', `/v1/forms/${form?.id ?? ''}/submissions`)
  t.is((data as object[]).length, 1)
}

async function endSite(t: ExecutionContext, { page, fill }: DashboardTab): Promise<void> {
  await page.click('header >> text=alpenblick')
  await page.click('header >> [aria-label=More]')
  await page.click('.menu >> text=Delete website')
  await fill('Type alpenblick to confirm', 'alpenblick')
  await page.click('dialog footer >> text=Delete website')
  await page.waitForURL(/\/websites$/)
  await page.waitForSelector('text=No websites yet')
  t.pass()
}
