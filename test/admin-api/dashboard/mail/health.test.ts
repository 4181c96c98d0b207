/** Problems of destinations on the overview, in the navigation and on the page of the destination; the overview of routing. */
import { observed } from '#core/findings/finding.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const letter = { from: 'shop@alpenblick.example', to: 'ben@example.org', subject: 'Your order', text: 'Thank you.' }

/** Fails as many attempts in a row as pause a destination. */
async function failing({ daemon }: DashboardServer, id: string): Promise<void> {
  const health = daemon.part('healthRegistry')
  const { updated_at: at } = await daemon.rest.must('GET', `/v1/destinations/${id}`)
  const subject = { id, updatedAt: Date.parse(String(at)) }
  const recipients = [{ address: 'a@b.example', verdict: 'transient' as const }]
  const error = { code: 'connect_refused', message: 'The host refused the connection.', phase: 'connect' }
  for (let n = 0; n < 30; n++) {
    health.attempting(subject)
    health.attempted(daemon.organizationId, subject, { recipients, error, host: 'x', port: 25, reused: false, milliseconds: { total: 5 } })
  }
}

/** Opens the finding of a paused destination, as the check of the doctor does after five minutes. */
async function report({ daemon }: DashboardServer, id: string): Promise<void> {
  const project = String((await daemon.rest.must('GET', '/v1/projects/me'))['project_id'])
  const params = { name: 'Infomaniak', fallbacks: 0, fallback: '', sinceAt: Date.now(), cause: 'refused', code: 'connect_refused' }
  await openFindings(daemon, daemon.organizationId, [observed('destination.resting', id, params, project)])
}

test('health: a paused destination comes first, with its badge and fallback', async (t) => {
  const server = await startDashboard(t, browser)
  const { live, sink } = await seed(t, server)
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  await page.clock.install()
  await tab.go('/')
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  t.regex(await page.innerText('.say'), /7 messages in 24 hours\./)
  await failing(server, live)
  await report(server, live)
  await page.clock.fastForward(31_000)
  await page.waitForSelector('h2:text-is("No mail is going out.")')
  await page.click('.say .new-pill:has-text("new")')
  await page.waitForSelector('.look li:first-child:has-text("Infomaniak is paused")')
  await page.waitForSelector('.nav a:has-text("Destinations") >> .count.broken >> text=1')
  await page.waitForSelector('.plot:has(h2:text-is("Messages")) >> svg text:has-text("Infomaniak paused")')
  await tab.check(t)

  const backup = await makeDestination(rest, { name: 'Backup', port: sink.port, mode: 'live' })
  await rest.must('POST', '/v1/failover/policy', { primary_id: live, fallback_ids: [backup], conditions: { on: ['breaker_open'] } })
  await rest.must('POST', '/v1/routing/rules', { match: 'alpenblick.example', destination_id: live })
  const other = await server.open({ colorScheme: 'both' })
  await other.page.waitForSelector('h2:text-is("No mail is going out.")')
  t.is((await rest.must('POST', '/v1/messages', { ...letter, destination_id: backup }))['outcome'], 'relayed')
  await sink.delivered(({ to }) => to.includes(letter.to))
  await server.daemon.settled()
  await other.go('/')
  await other.page.waitForSelector('h2:text-is("Mail is going out, except through Infomaniak.")')
  await other.page.click('.look a:text-is("See why")')
  await other.page.waitForSelector('aside .note.bad')
  await other.go('/destinations')
  await other.page.waitForSelector('.look li:has-text("Infomaniak is paused")')
  await other.page.waitForSelector('tr:has-text("Infomaniak") >> [role=img][aria-label^="Infomaniak: "]')
  await other.page.waitForSelector('.ways >> text=1 routing rule')
  t.regex(await other.page.innerText('.takeover'), /Infomaniak\s*paused[^]*Backup\s*in use now/)
  await other.check(t)
})

test('health: translated sentence; newer destinations do not hide a paused one', async (t) => {
  const server = await startDashboard(t, browser)
  const { live, sink } = await seed(t, server)
  const newer = Array.from({ length: 60 }, (_, i) =>
    makeDestination(server.daemon.rest, { name: `Shop ${i}`, port: sink.port, mode: 'sandbox' }),
  )
  await Promise.all(newer)
  await failing(server, live)
  await report(server, live)
  for (const [locale, says] of [
    ['de', 'Es gehen keine Mails hinaus.'],
    ['fr', 'Aucun message ne part.'],
    ['it', 'Nessun messaggio parte.'],
  ] as const) {
    const { page } = await server.open({ locale })
    await page.waitForSelector(`.say h2:text-is("${says}")`)
    t.is(await page.locator('.say h2').count(), 1)
    await page.waitForSelector('.look li')
    await page.waitForSelector('.healths li:first-child:has-text("Infomaniak")')
    t.is(await page.locator('.healths li').count(), 12)
    t.is(await page.locator('section:has(.healths) .head a[href="/destinations"]').count(), 1)
  }
})

test('destinations: findings decide the state; attempts without a finding change nothing', async (t) => {
  const server = await startDashboard(t, browser)
  const { live } = await seed(t, server)
  await failing(server, live)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/destinations')
  const row = 'tr:has-text("Infomaniak")'
  await page.waitForSelector(row)
  t.is(await page.locator('.look, td .status:text-is("paused")').count(), 0)
  await report(server, live)
  await tab.go('/destinations')
  await page.waitForSelector(`${row} >> .status:has-text("paused")`)
  await tab.check(t)
  await page.click('.look a:text-is("See why")')
  await page.waitForSelector('section .look li >> text=Check the status of its provider')
  t.is(await page.locator('.look a:text-is("See why")').count(), 0, 'it leads to this page')
  await tab.check(t)
  await openFindings(server.daemon, server.daemon.organizationId, [])
  await tab.go(`/destinations/${live}`)
  t.is(await page.locator('.look').count(), 0)
})
