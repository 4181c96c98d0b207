/** Projects in Chromium: create, limit, split into partitions, move the content to another project and delete. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { siteSettings } from '../../sites/site-client.ts'
import { startDashboard } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('projects: create, change, undo, delete by name; Default stays', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const { rest } = server.daemon
  await tab.go('/settings/projects')
  await page.waitForSelector('h2 >> text=One project; 0 sends today.')
  await tab.check(t)
  await page.keyboard.press('n')
  await page.waitForSelector('dialog')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('dialog [role=alert]')
  await tab.fill('Name', 'Newsletter')
  await tab.fill('Send limit per day', '20')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForURL(/\/settings\/projects\/prj_/)
  await page.waitForSelector('.ledger >> text=of 20')
  await tab.check(t)
  await page.click('header >> text=Edit')
  await tab.fill('Name', 'Letters')
  await page.getByLabel('No-route policy', { exact: true }).selectOption('reject')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Save")')
  await page.waitForSelector('main h2 >> text=Letters')
  const id = new URL(page.url()).pathname.split('/')[3] ?? ''
  t.like(await rest.must('GET', `/v1/projects/${id}`), { name: 'Letters', no_route_policy: 'reject', send_budget: 20 })
  await page.click('.toast button')
  await page.waitForSelector('main h2 >> text=Newsletter')
  t.like(await rest.must('GET', `/v1/projects/${id}`), { name: 'Newsletter', no_route_policy: 'capture' })
  await page.click('button.project')
  await page.waitForSelector('.menu >> text=Newsletter')
  await page.keyboard.press('Escape')
  await tab.go(`/settings/projects/${id}?project=${id}`)
  await page.click('main >> text=Delete the project')
  await tab.check(t)
  await tab.fill('Type Newsletter to confirm', 'Newsletter')
  await page.click('dialog >> button:has-text("Delete the project")')
  await page.waitForURL(/\/settings\/projects$/)
  await page.waitForSelector('h2 >> text=One project; 0 sends today.')
  t.is((await rest.call('GET', `/v1/projects/${id}`)).status, 404)
  await page.click('tbody a')
  await page.waitForSelector('text=The Default project cannot be deleted.')
  t.is(await page.locator('text=Delete the project').count(), 0)
  await tab.go('/settings/projects/prj_00000000000000000000000000000000')
  await page.waitForSelector('text=Couldn’t load the projects.')
  t.is(
    await page.evaluate(`getComputedStyle(document.querySelector('h1 a:last-of-type'), '::after').content`),
    'none',
    'no separator without a name',
  )
  await tab.check(t)
})

test('projects: create a partition with a separate budget on a suitable plan', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  const { rest } = server.daemon
  const { data } = (await rest.must('GET', '/v1/projects')) as { data: { id: string }[] }
  const parent = data[0]?.id ?? ''
  await tab.go(`/settings/projects/${parent}`)
  await page.click('text=New partition')
  await page.waitForSelector('dialog >> text=Parent project')
  await tab.fill('Name', 'Customer A')
  await tab.fill('Send limit per day', '5')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('.links >> text=Customer A')
  await tab.check(t)
  await tab.go('/settings/projects')
  await page.waitForSelector('h2 >> text=One project with one partition')
  await tab.check(t)
  await page.click('tbody >> text=Customer A')
  await page.waitForSelector('.ledger >> text=of 5')
  await tab.check(t)
})

test('projects: move resources, explain refusals, undo all moves', async (t) => {
  const server = await startDashboard(t, browser, siteSettings)
  const { rest } = server.daemon
  const { data } = (await rest.must('GET', '/v1/projects')) as { data: { id: string }[] }
  const home = data[0]?.id ?? ''
  const other = String((await rest.must('POST', '/v1/projects', { name: 'Shop' }))['id'])
  const credentials = { host: '127.0.0.1', port: 9, security: 'none' }
  const named = String((await rest.must('POST', '/v1/destinations', { name: 'Named', provider: 'smtp', credentials }))['id'])
  const free = String((await rest.must('POST', '/v1/destinations', { name: 'Free', provider: 'smtp', credentials }))['id'])
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: named })
  const inbox = String((await rest.must('POST', '/v1/inboxes', { address_pattern: 'qa@example.test', name: 'QA' }))['id'])
  const site = String((await rest.must('POST', '/v1/sites', { slug: 'alpenblick' }))['id'])
  const form = String((await rest.must('POST', '/v1/forms', { name: 'Contact', template: 'contact' }))['id'])
  const moved = [`/v1/destinations/${free}`, `/v1/inboxes/${inbox}`, `/v1/sites/${site}`, `/v1/forms/${form}`]
  const homes = (): Promise<unknown[]> => Promise.all(moved.map(homeOf))
  const homeOf = async (path: string): Promise<unknown> => (await rest.must('GET', path))['project_id']
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/settings/projects/${home}`)
  await page.click('text=Move to another project')
  await page.waitForSelector('text=Choose what to move')
  await page.waitForSelector('label:has-text("Named") >> text=used by a rule')
  await tab.check(t)
  await page.check('label:has-text("Named") input')
  await page.check('label:has-text("Free") input')
  await page.check('label:has-text("QA") input')
  await page.check('label:has-text("alpenblick") input')
  await page.check('label:has-text("Contact") input')
  await page.waitForSelector('text=5 items selected')
  await page.getByLabel('Target project', { exact: true }).selectOption({ label: 'Shop' })
  await page.click('button:has-text("Move 5")')
  await page.waitForSelector('.toast >> text=4 moved to Shop.')
  await page.waitForSelector('label:has-text("Named") >> text=kept here')
  await page.focus('.toast button') // a focused toast stays
  await tab.check(t)
  t.deepEqual(await homes(), [other, other, other, other])
  t.is(await homeOf(`/v1/destinations/${named}`), home)
  await page.click('.toast button')
  await page.waitForSelector('label:has-text("Free") >> text=moved', { state: 'detached' })
  await page.waitForSelector('label >> text=moved', { state: 'detached' })
  t.deepEqual(await homes(), [home, home, home, home])
})
