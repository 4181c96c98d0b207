/** Lists with more rows than a page of the service: pickers, names and counts use all of them. */
import { testWith } from '../../../support/peers/peers.ts'
import { becomesTrue, browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** More than the largest page, which has 200 rows. */
const many = 250

async function addMany(server: DashboardServer, path: string, bodyOf: (name: string) => object): Promise<readonly string[]> {
  const ids: string[] = []
  for (let n = 1; n <= many; n++) ids.push(String((await server.daemon.rest.must('POST', path, bodyOf(`Row ${String(n)}`)))['id']))
  return ids
}

/** Waits until the given number of elements match. */
const waitForCount = (page: DashboardTab['page'], selector: string, count: number): Promise<unknown> =>
  becomesTrue(page, `document.querySelectorAll(${JSON.stringify(selector)}).length === ${String(count)}`)

test('destinations: every picker and every name includes those after the first page', async (t) => {
  const server = await startDashboard(t, browser)
  const credentials = { host: '127.0.0.1', port: 1, security: 'none' }
  const [oldest = ''] = await addMany(server, '/v1/destinations', (name) => ({ name, provider: 'smtp', credentials }))
  const { rest } = server.daemon
  await rest.must('POST', `/v1/destinations/${oldest}/promote-to-live`)
  await rest.must('POST', '/v1/smtp-credentials', { label: 'Shop', default_destination_id: oldest })
  await rest.must('POST', '/v1/routing/rules', { match: { domain: 'example.org' }, destination_id: oldest })
  await rest.must('POST', '/v1/messages', { from: 'a@example.org', to: 'b@example.net', subject: 'Hi', text: 'Hi', destination_id: oldest })
  const { page, go } = await server.open()
  await go('/keys?kind=smtp')
  await page.waitForSelector('tbody >> text=Row 1')
  await page.click('text=New SMTP login')
  await waitForCount(page, 'dialog option', many + 1)
  await go('/replays?new=1')
  await page.waitForSelector(`option[value="${oldest}"]`, { state: 'attached' })
  await go('/routing')
  await page.waitForSelector('tbody >> text=Row 1')
  await page.click('header >> text=New rule')
  await page.waitForSelector(`dialog option[value="${oldest}"]`, { state: 'attached' })
  await go('/traces')
  await page.waitForSelector('tbody >> text=Row 1')
  t.is(await page.getByText('Showing the newest').count(), 0)
})

test('projects: the switcher, the list and its counts include all', async (t) => {
  const server = await startDashboard(t, browser)
  await addMany(server, '/v1/projects', (name) => ({ name }))
  const { page, go } = await server.open()
  await go('/projects')
  await waitForCount(page, 'main tbody tr', many + 1)
  await page.waitForSelector(`main >> text=/${String(many + 1)} projects/`)
  await page.click('nav button:has-text("Project")')
  await page.getByLabel('Find a project').fill('Row 1')
  await page.waitForSelector('.menu a >> text="Row 1"')
  t.pass()
})

test('a picker of a list with more than 1,000 rows says that it is cut', async (t) => {
  const server = await startDashboard(t, browser)
  const { page, go } = await server.open()
  let pages = 0
  await page.route(/\/v1\/destinations\?/, async (route) => {
    pages++
    const data = Array.from({ length: 200 }, (_, n) => ({
      id: `dst_${String(pages)}_${String(n)}`,
      name: `Row ${String(n)}`,
      mode: 'live',
    }))
    await route.fulfill({ json: { data, next_cursor: 'more' } })
  })
  await go('/keys?kind=smtp&new=1')
  await page.waitForSelector('dialog >> text=Showing the newest 1,000.')
  await waitForCount(page, 'dialog option', 1001)
  t.is(pages, 5) // the table of logins and the dialog share one read
})

test('a picker includes a row that the same window has just created', async (t) => {
  const server = await startDashboard(t, browser)
  const credentials = { host: '127.0.0.1', port: 1, security: 'none' }
  await server.daemon.rest.must('POST', '/v1/destinations', { name: 'First', provider: 'smtp', credentials })
  const tab = await server.open()
  const { page } = tab
  await tab.go('/routing?view=what-if')
  await page.waitForSelector('option:has-text("First")', { state: 'attached' })
  await page.click('text=Rules')
  await page.click('header >> text=New rule')
  await tab.fill('Sender', 'shop@example.ch')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('dialog', { state: 'detached' })
  await page.click('text=What if')
  await page.waitForSelector('option:text-is("shop@example.ch")', { state: 'attached' })
  t.pass()
})
