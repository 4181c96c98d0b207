/** The audit log in Chromium: its filters and pages in the address, an entry in full, hostile names, and who does not see it. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const hostile = '<img src=x onerror=alert(1)>\u202etxt'

test('who changed what is listed, filtered in the address, paged, and shown in full', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const first = await server.open()
  await first.go('/audit')
  const made = await rest.must('POST', '/v1/templates', { slug: 'a', name: hostile, subject_tmpl: 'x', text_tmpl: 'y' })
  await rest.must('PUT', `/v1/templates/${String(made['id'])}`, { name: 'Plain', subject_tmpl: 'x', text_tmpl: 'z' })
  for (let i = 0; i < 30; i++) await rest.must('POST', '/v1/projects', { name: `Project ${String(i)}` })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.click('nav >> text=Audit log')
  await page.waitForURL(/\/audit$/)
  await page.waitForSelector('tbody >> text=project.created')
  t.is(await page.locator('tbody tr').count(), 50)
  await tab.check(t)
  await page.click('main >> text=Older')
  await page.waitForSelector('tbody >> text=template.saved')
  await tab.fill('Action', 'template')
  await page.keyboard.press('Enter')
  await page.waitForURL(/act=template/)
  await page.waitForSelector('tbody tr:has-text("template.created") >> text=U+202E')
  t.is(await page.locator('tbody tr').count(), 2)
  await tab.check(t)
  await page.click('tbody >> text=template.saved')
  await page.waitForURL(/entry=aud_/)
  await page.waitForSelector('dialog >> text=/"changed": \\[/')
  await page.waitForSelector('dialog tr:has-text("name") del >> text=U+202E')
  t.is(await page.innerText('dialog tr:has-text("current_version") ins'), '2')
  await page.waitForSelector('dialog >> text=/^(?:127\\.0\\.0\\.1|::1)$/')
  t.true((await page.innerText('dialog')).includes(String(made['id'])))
  await tab.check(t)
  await page.click('dialog >> text=Everything about this object')
  await page.waitForURL(new RegExp(`target=${String(made['id'])}`))
  await page.waitForSelector('tbody >> text=template.created')
  await page.reload()
  await page.waitForSelector('tbody >> text=template.created')
  t.is(await page.inputValue('input[placeholder="Its id"]'), String(made['id']))
  await page.click('text=Clear all')
  await tab.fill('From (UTC)', '2020-01-01')
  await tab.fill('Until (UTC)', '2020-01-02')
  await page.click('button:has-text("Filter")')
  await page.waitForURL(/since=2020-01-01.*until=2020-01-02/)
  await page.waitForSelector('text=No entry matches')
  await tab.check(t)
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /\/v1\/audit\?since=2020-01-01/)
})

test('actors have their names, and are chosen by them', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/keys?new=1')
  await page.fill('dialog input', hostile)
  await page.click('dialog >> text=Create')
  await page.waitForSelector('[data-secret=api_key]')
  await server.daemon.rest.must('POST', '/v1/projects', { name: 'By key' })
  await tab.go('/audit')
  await page.waitForSelector('tbody tr:has-text("api_key.minted") >> text=user olga@alpenblick.example')
  await page.waitForSelector('tbody tr:has-text("api_key.minted") >> text=U+202E')
  await page.waitForSelector('tbody tr:has-text("project.created") >> text=/^api key /')
  await page.waitForSelector('tbody tr:has-text("member.added") >> text=olga@alpenblick.example')
  await page.getByRole('combobox', { name: 'Actor' }).selectOption({ label: 'olga@alpenblick.example' })
  await page.click('button:has-text("Filter")')
  await page.waitForURL(/actor=usr_/)
  await page.waitForSelector('tbody >> text=api_key.minted')
  t.is(await page.locator('tbody tr:has-text("project.created")').count(), 0)
  await tab.check(t)
})

test('viewers are not allowed to see it; a log that fails says so; the words are those of the language', async (t) => {
  const server = await startDashboard(t, browser)
  await server.open()
  const { accept_url: url } = await server.daemon.rest.must('POST', '/v1/invitations', { email: 'vera@alpenblick.example', role: 'viewer' })
  const joining = await (await browser().newContext()).newPage()
  await joining.goto(String(url))
  await joining.click('button:has-text("Join")')
  await joining.waitForLoadState()
  await joining.context().close()
  const viewer = await server.open({ link: await server.signInLink('vera@alpenblick.example') })
  await viewer.go('/audit')
  await viewer.page.waitForSelector('text=Your role cannot do this')
  t.is(await viewer.page.locator('.audit-filter').count(), 0)
  await viewer.page.waitForSelector('main >> a[href^="/members"] >> text=Who can change your role')
  await viewer.check(t)
  await viewer.go('/keys')
  await viewer.page.waitForSelector('text=Keys of the whole organization are shown to its owners and administrators')
  await viewer.check(t)
  for (const [locale, failed] of [
    ['de', 'Das Protokoll konnte nicht gelesen werden'],
    ['fr', 'Le journal n’a pas pu être lu'],
    ['it', 'Impossibile leggere il registro'],
  ] as const) {
    const tab = await server.open({ locale })
    const { page } = tab
    await tab.go('/audit')
    await page.waitForSelector('tbody tr')
    await tab.check(t)
    await page.route('**/v1/audit*', (route) => route.fulfill({ status: 500, body: '{}', contentType: 'application/json' }))
    await tab.go('/audit')
    await page.waitForSelector(`text=${failed}`)
    await tab.check(t)
    await page.context().close()
  }
})
