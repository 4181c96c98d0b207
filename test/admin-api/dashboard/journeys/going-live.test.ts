/** Going live in Chromium: choice of the mail for a destination, the first real message, and captured mail without a rule. */
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

async function promote({ page, fill }: DashboardTab, toast: string): Promise<void> {
  await fill('Type Local sink to confirm', 'Local sink')
  await page.click('aside >> button:has-text("Promote to live")')
  await page.waitForSelector(`.toast >> text=${toast}`)
}

test('promote page: preselects all mail without a route; first mail ends the checklist', async (t) => {
  const { sink, tab } = await started(t)
  const { page } = tab
  await tab.go('/')
  await page.waitForSelector('.steps h3:has-text("First real mail")')
  await tab.check(t)
  await page.click('.steps a:has-text("Promote to live")')
  await page.waitForSelector('legend:text-is("Which mail goes through Local sink?")')
  await page.waitForSelector('label:has-text("All mail from Default") >> input:checked')
  await tab.check(t)
  await promote(tab, 'Local sink is live.')

  await tab.go('/')
  await page.waitForSelector('h2:text-is("No mail sent yet.")')
  t.is(await page.locator('.steps .tag.good').count(), 2, 'a destination is connected, and live')
  await tab.check(t)
  await page.click('.steps >> text=Send a test')
  await tab.fill('To', 'ben@shop.example')
  await page.waitForSelector('text=This mail is sent to the recipient.')
  await page.click('dialog >> text=Send for real')
  await sink.delivered(({ to }) => to.includes('ben@shop.example'))
  await page.waitForSelector('.trace-timeline >> text=Attempt 1: accepted')
  await tab.go('/')
  await page.waitForSelector('h2:text-is("All mail is being sent.")')
  t.is(await page.locator('.steps').count(), 0)
})

test('promote page: creates a routing rule for a sender or domain', async (t) => {
  const { server, tab, id } = await started(t)
  const { page } = tab
  const { rest } = server.daemon
  await tab.go(`/destinations/${id}/promote`)
  await page.getByLabel('Only mail from one sender or domain').check()
  await tab.fill('Sender or domain', '*')
  await tab.check(t)
  await tab.fill('Sender or domain', 'alpenblick.example')
  await promote(tab, 'Local sink is live.')
  const { data } = await rest.must('GET', '/v1/routing/rules')
  t.like(data, [{ match: { domain: 'alpenblick.example' }, destination_id: id }])
  t.is((await rest.must('POST', '/v1/messages', letter))['outcome'], 'relayed')
  t.like(await rest.must('POST', '/v1/messages', { ...letter, from: 'a@other.example' }), { outcome: 'captured.no_route' })
})

test('overview: captured mail without a rule is the sentence; the finding links to a new rule', async (t) => {
  const { server, tab, id } = await started(t)
  const { page } = tab
  const { daemon } = server
  const { rest } = daemon
  await tab.go(`/destinations/${id}/promote`)
  await page.getByLabel('No mail yet').check()
  await promote(tab, 'Local sink is live, but no rule sends mail to it yet.')
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
  await tab.go(`/destinations/${id}/promote`)
  await page.click('text=Add rule')
  await page.waitForURL(/\/routing\?new=1/)

  const spoken = { de: /werden abgefangen/, fr: /sont capturés/, it: /vengono catturati/ }
  for (const [locale, says] of Object.entries(spoken)) {
    const other = await server.open({ locale })
    await other.go('/')
    await other.page.waitForSelector('.look li')
    t.regex(await other.page.innerText('.say h2'), says)
  }
})
