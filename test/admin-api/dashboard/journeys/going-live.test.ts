/** Going live in Chromium: provider, login, check, choice of mail and first mail; and captured mail without a rule. */
import type { ExecutionContext } from 'ava'
import { observed } from '#core/findings/finding.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const letter = { from: 'shop@alpenblick.example', to: 'ada@example.org', subject: 'Your order', text: 'Thank you.' }

interface Started {
  readonly server: DashboardServer
  readonly sink: Sink
  readonly tab: DashboardTab
  readonly id: string
}

async function started(t: ExecutionContext): Promise<Started> {
  const server = await startDashboard(t, browser)
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const credentials = { host: '127.0.0.1', port: sink.port, security: 'none' }
  const { id } = await server.daemon.rest.must('POST', '/v1/destinations', { name: 'Local sink', provider: 'smtp', credentials })
  return { server, sink, tab: await server.open(), id: String(id) }
}

const goesLive = async ({ page }: DashboardTab): Promise<void> => {
  await page.click('aside >> button:has-text("Go live")')
  await page.waitForURL(/\/go-live\/first-mail/)
}

test('going live: provider, login, check, route and first mail without a detour', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const tab = await server.open({ colorScheme: 'both' })
  const { page, fill } = tab
  await tab.go('/')
  await page.click('.steps a:has-text("New destination")')
  await page.waitForSelector('h2:text-is("Who sends your mail?")')
  await tab.check(t)
  await page.click('.tile:has-text("Other SMTP server")')
  await page.waitForURL(/\/destinations\/new\/smtp$/)
  await page.waitForSelector('button:text-is("Save and check")')
  await tab.check(t)
  await fill('Host', '127.0.0.1')
  await fill('Port', String(sink.port))
  await page.getByLabel('Security', { exact: true }).selectOption('none')
  await fill('From address', 'shop@alpenblick.example')
  await page.click('button:text-is("Save and check")')
  await page.waitForURL(/\/destinations\/dst_[^/]+\/go-live$/)
  await page.waitForSelector('h2:text-is("Other SMTP server works.")')
  const [made] = (await rest.must('GET', '/v1/destinations'))['data'] as { id: string; mode: string }[]
  t.is(made?.mode, 'sandbox')
  await page.waitForSelector('label:has-text("All mail from Default") >> input:checked')
  await page.waitForSelector('.checks >> text=The test message was sent.')
  await tab.check(t)
  await goesLive(tab)
  t.like((await rest.must('GET', '/v1/routing/rules'))['data'], [{ match: { any: true }, destination_id: made?.id }])
  await page.waitForSelector('h2:text-is("Send your first mail.")')
  await tab.check(t)
  await page.click('button:has-text("Send a test to olga@alpenblick.example")')
  await sink.delivered(({ to }) => to.includes('olga@alpenblick.example'))
  await page.waitForSelector('h2:text-is("Other SMTP server accepted your first mail.")')
  await page.waitForSelector('.trace-timeline >> text=Attempt 1: accepted')
  await tab.check(t)
  await tab.go('/')
  await page.waitForSelector('h2:text-is("All mail is going out.")')
  t.is(await page.locator('.steps').count(), 0)
})

test('going live: a rule for a domain; mail of other domains is captured, and one button routes it', async (t) => {
  const { server, sink, tab, id } = await started(t)
  const { page } = tab
  const { rest } = server.daemon
  await tab.go(`/destinations/${id}/go-live`)
  await page.getByLabel('Only mail from one sender or domain').check()
  await tab.fill('Sender or domain', 'other.example')
  await goesLive(tab)
  t.like((await rest.must('GET', '/v1/routing/rules'))['data'], [{ match: { domain: 'other.example' }, destination_id: id }])
  await rest.must('POST', '/v1/messages', letter)
  await page.waitForSelector('h2:text-is("Your mail was captured: no rule matches shop@alpenblick.example.")')
  await tab.check(t)
  await page.click('button:text-is("Send this domain through Local sink")')
  await sink.delivered(({ to }) => to.includes('olga@alpenblick.example'))
  await page.waitForSelector('h2:text-is("Local sink accepted your first mail.")')
})

test('going live: another rule for all mail is changed, not joined', async (t) => {
  const { server, tab, id } = await started(t)
  const { rest } = server.daemon
  const { id: other } = await rest.must('POST', '/v1/destinations', {
    ...{ name: 'Nordpost', provider: 'smtp', credentials: { host: '127.0.0.1', port: 9, security: 'none' } },
  })
  await rest.must('POST', `/v1/destinations/${String(other)}/promote-to-live`, { default_route: true })
  await tab.go(`/destinations/${id}/go-live`)
  await tab.page.waitForSelector('text=Mail of Default goes through Nordpost. Change it to Local sink?')
  await tab.page.waitForSelector('label:has-text("No mail yet") >> input:checked')
  await tab.page.click('label:has-text("All mail from Default")')
  await goesLive(tab)
  t.like((await rest.must('GET', '/v1/routing/rules'))['data'], [{ match: { any: true }, destination_id: id }])
})

test('overview: captured mail without a rule is the sentence; the finding links to a new rule', async (t) => {
  const { server, tab, id } = await started(t)
  const { page } = tab
  const { daemon } = server
  const { rest } = daemon
  await rest.must('POST', `/v1/destinations/${id}/promote-to-live`)
  for (let i = 0; i < 3; i++) t.like(await rest.must('POST', '/v1/messages', letter), { outcome: 'captured.no_route' })
  await daemon.settled()
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const params = { project: 'Default', captured: 3, refused: 0, destination: 'Local sink' }
  await openFindings(daemon, daemon.organizationId, [observed('route.missing', project, params, project)])
  await tab.go('/')
  await page.waitForSelector('h2:text-is("Mail is captured, not sent.")')
  await page.waitForSelector('.look li >> text=3 messages of the project Default matched no routing rule')
  await page.waitForSelector('.steps h3:has-text("First real mail")')
  await tab.check(t)
  await page.click('.look a:text-is("Add rule")')
  await page.waitForURL(/\/routing\?.*new=1/)
  const spoken = { de: /werden abgefangen/, fr: /sont capturés/, it: /vengono catturati/ }
  for (const [locale, says] of Object.entries(spoken)) {
    const other = await server.open({ locale })
    await other.go('/')
    await other.page.waitForSelector('.look li')
    t.regex(await other.page.innerText('.say h2'), says)
  }
})
