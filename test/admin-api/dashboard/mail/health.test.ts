/** Problems of destinations appear on every screen as they happen; the overview of routing. */
import { testWith } from '../../../support/peers/peers.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

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

test('health: a paused destination comes first, with its badge and fallback', async (t) => {
  const server = await startDashboard(t, browser)
  const { live, sink } = await seed(t, server)
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  await page.clock.install()
  await tab.go('/')
  await page.waitForSelector('.say h2 a:text-is("Mail to 2 of 3 recipients bounced in the last hour.")')
  t.regex(await page.innerText('.say'), /2 accepted by providers, 1 failed, 1 deferred\.[^]*1 message is in the queue/)
  t.regex(String(await page.getAttribute('.say h2 a', 'href')), /^\/traces\?status=bounced&since=/)
  await failing(server, live)
  await page.clock.fastForward(31_000)
  await page.waitForSelector('h2:has-text("No mail is being sent. Infomaniak is paused.")')
  t.regex(await page.innerText('.say'), /Infomaniak: \d\d\s% of the attempts in the last hour failed\. .*The host refused the connection\./)
  await page.waitForSelector('.nav a:has-text("Destinations") >> .count.broken >> text=1')
  await page.waitForSelector('.plot:has(h2:text-is("Sends")) >> svg text:has-text("Infomaniak paused")')
  await tab.check(t)

  const backup = await makeDestination(rest, { name: 'Backup', port: sink.port, mode: 'live' })
  await rest.must('POST', '/v1/failover/policy', { primary_id: live, fallback_ids: [backup], conditions: { on: ['breaker_open'] } })
  await rest.must('POST', '/v1/routing/rules', { match: 'alpenblick.example', destination_id: live })
  const other = await server.open({ colorScheme: 'both' })
  await other.page.waitForSelector('h2:has-text("Mail is being sent. Infomaniak is paused.")')
  await other.page.click('.say h2 a')
  await other.page.waitForSelector('aside .note.bad')
  await other.go('/destinations')
  await other.page.waitForSelector('.note.bad >> text=Infomaniak is paused.')
  await other.page.waitForSelector('tr:has-text("Infomaniak") >> [role=img][aria-label^="Infomaniak: "]')
  await other.page.waitForSelector('.ways >> text=1 routing rule')
  t.regex(await other.page.innerText('.takeover'), /Infomaniak\s*paused[^]*Backup\s*in use now/)
  await other.check(t)
})

test('health: translated verdict; newer destinations do not hide a paused one', async (t) => {
  const server = await startDashboard(t, browser)
  const { live, sink } = await seed(t, server)
  const newer = Array.from({ length: 60 }, (_, i) =>
    makeDestination(server.daemon.rest, { name: `Shop ${i}`, port: sink.port, mode: 'sandbox' }),
  )
  await Promise.all(newer)
  await failing(server, live)
  for (const [locale, says, bounced, why] of [
    [
      'de',
      'Es gehen keine Mails hinaus. Infomaniak ist angehalten.',
      'Mails an 2 von 3 Empfänger kamen in der letzten Stunde zurück.',
      '5 Versuche nacheinander scheiterten. Zuletzt: Der Host wies die Verbindung ab.',
    ],
    [
      'fr',
      'Aucun message ne part. Infomaniak est suspendue.',
      'Destinataires dont les messages sont revenus durant la dernière heure : 2 sur 3.',
      '5 tentatives de suite ont échoué. La dernière : L’hôte a refusé la connexion.',
    ],
    [
      'it',
      'Nessun messaggio parte. Infomaniak è sospesa.',
      'Destinatari la cui posta è tornata indietro nell’ultima ora: 2 su 3.',
      '5 tentativi di fila sono falliti. L’ultimo: L’host ha rifiutato la connessione.',
    ],
  ] as const) {
    const { page } = await server.open({ locale })
    await page.waitForSelector(`.say h2:has-text("${says}")`)
    t.is(await page.locator('.say h2').count(), 1)
    await page.waitForSelector(`.say p >> text=${bounced}`)
    await page.waitForSelector(`.say p >> text=${why}`)
    await page.waitForSelector('.healths li:first-child:has-text("Infomaniak")')
    t.is(await page.locator('.healths li').count(), 12)
    t.is(await page.locator('section:has(.healths) .head a[href="/destinations"]').count(), 1)
  }
})
