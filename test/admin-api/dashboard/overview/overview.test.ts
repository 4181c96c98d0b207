/** The overview in Chromium: its first paint, stillness while answers arrive, news without a reload, and failures of its parts. */
import type { ExecutionContext } from 'ava'
import { observed, type Observed } from '#core/findings/finding.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { waitFor } from '../../../support/waits.ts'
import { delayAnswers, shiftOf, watchShifts } from '../walks/shifts.ts'
import { goTo } from '../walks/screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const orders = (undelivered: number): Observed =>
  observed('webhook.failing', 'whk_1', { name: 'Order system', count: 5, by: 'webhook', counted: 'yes', undelivered, status: '500' }, '')
const quota = observed(
  'quota.nearly_used',
  'traces_stored',
  { limit: 'traces_stored', used: 86, allowed: 100, percent: 86, project: '' },
  '',
)
const attacks = ['WordPress', 'Shop', 'Blog'].map((login, n) => observed('login.attacked', `cred_${n}`, { login, count: 412 }, ''))

/** Starts a service that has sent a message and captured two, and opens findings. Its own checks find nothing. */
async function seeded(t: ExecutionContext, found: readonly Observed[], settings = {}): Promise<DashboardServer> {
  const server = await startDashboard(t, browser, settings)
  const { rest, organizationId } = server.daemon
  const sink = await Sink.listen({})
  t.teardown(() => sink[Symbol.asyncDispose]())
  const [live, sandbox] = [
    await makeDestination(rest, { name: 'Infomaniak', port: sink.port, mode: 'live' }),
    await makeDestination(rest, { name: 'SES Frankfurt', port: sink.port, mode: 'sandbox' }),
  ]
  const send = async (destination_id: string): Promise<string> => {
    const letter = { from: 'shop@alpenblick.example', to: 'ben@example.org', subject: 'Your order', text: 'Thank you.', destination_id }
    return String((await rest.must('POST', '/v1/messages', letter))['trace_id'])
  }
  const sent = await send(live)
  for (let n = 0; n < 2; n++) await send(sandbox)
  await waitFor('the provider accepts the message', async () => (await rest.must('GET', `/v1/traces/${sent}`))['status'] === 'sent')
  await openFindings(server.daemon, organizationId, found)
  return server
}

/** Text of the sentence, rows and figures. */
const shown = (page: Page): Promise<string> => page.innerText('.say').then(async (say) => say + (await page.innerText('.overview')))

test('first paint: sentence, rows and figures need no request', async (t) => {
  const server = await seeded(t, [orders(214), quota, ...attacks], { POSTERN_OPERATORS: 'olga@alpenblick.example' })
  await openFindings(server.daemon, systemOrganizationId, [observed('disk.low', '', { folder: '/data', freeMib: 1, neededMib: 2 })])
  const { page } = await server.open()
  await page.route('**/*v1/**', () => undefined)
  await page.goto(server.url)
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  const text = await shown(page)
  t.regex(text, /3 messages in 24 hours\./)
  t.regex(text, /Order system isn't getting events[^]*answers 500 to every request\.[^]*Since\s+\d\d:\d\d, [^]*Undelivered\s+214 events/)
  t.regex(text, /2 more:\s+SMTP login \w+: 412 failed sign-ins …[^]*Sent\s+1/)
  t.regex(text, /A problem with this service[^]*Open operator/)
  t.regex(text, /Recipients accepted\s+1 of 1[^]*Bounced\s+0[^]*Complaints\s+0[^]*Captures in \w+\s+2[^]*Sends today\s+3/)
  t.is(await page.locator('.say .bone, .ledger .bone').count(), 0)
  await page.waitForSelector('.loading >> visible=true')
})

for (const width of [1440, 390])
  test(`answers that take 400 ms move nothing, ${width} px`, async (t) => {
    const server = await seeded(t, [orders(214), quota, ...attacks])
    const { page } = await server.open()
    await page.setViewportSize({ width, height: 900 })
    await watchShifts(page)
    await delayAnswers(page, 400)
    for (const path of ['/', '/traces']) {
      await page.goto(server.url + path)
      if (path !== '/') await goTo(page, '/')
      await page.waitForSelector('.side-plots .plot >> nth=1')
      await page.waitForSelector('.overview .loading', { state: 'detached' })
      const { sum, moved } = await shiftOf(page)
      t.true(sum < 0.05, `from ${path}: ${sum} ${moved}`)
    }
  })

test('a finding appears and ends without a reload, and moves no figure', async (t) => {
  const server = await seeded(t, [])
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.clock.install()
  await tab.go('/')
  await page.waitForSelector('.say >> text=No open findings')
  const top = async (): Promise<number | undefined> => (await page.locator('.ledger').boundingBox())?.y
  const before = await top()
  await openFindings(server.daemon, server.daemon.organizationId, [orders(3)])
  await page.clock.fastForward(16_000)
  await page.waitForSelector('.say .new-pill:text-is("1 new")')
  t.is(await page.locator('.look li').count(), 0)
  t.is(await top(), before)
  await tab.check(t)
  await page.click('.new-pill')
  await page.waitForSelector('.look li:has-text("3 events")')
  const placed = await top()
  await openFindings(server.daemon, server.daemon.organizationId, [])
  await page.clock.fastForward(16_000)
  await page.waitForSelector('.look li >> dt:text-is("Ended")')
  t.is(await top(), placed)
  await page.click('.new-pill')
  await page.waitForSelector('.look', { state: 'detached' })
})

test('failures: of findings, of figures and of the latest mail, each with a retry', async (t) => {
  const server = await seeded(t, [orders(3)])
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/traces')
  const failing = /\/v1\/(?:findings\?.*state=open&limit|insights\/(?:sends|delivery)|traces\?limit=8)/
  await page.route(failing, (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: 'internal_error', message: 'Something broke.', next_action: 'retry', details: {} } },
    }),
  )
  await goTo(page, '/')
  await page.waitForSelector('.say h2:text-is("The state of your mail is unknown.")')
  await page.waitForSelector('.ledger >> text=Couldn’t load the figures')
  await page.waitForSelector('[role=alert] h2:text-is("Couldn’t load the latest mail")')
  await page.waitForSelector('.healths li:has-text("Infomaniak")')
  await page.waitForSelector('.overview .loading', { state: 'detached' })
  await tab.check(t)
  for (const part of ['.ledger', '.say', 'section:has(#latest) .state']) {
    const asked = page.waitForRequest(failing)
    await page.click(`${part} >> text=Try again`)
    await asked
  }
  await page.unrouteAll({ behavior: 'wait' })
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  await page.waitForSelector('.ledger >> text=Sends today')
})

test('a longer period changes figures and plots, not the sentence', async (t) => {
  const server = await seeded(t, [])
  const tab = await server.open()
  const { page } = tab
  await tab.go('/')
  await page.waitForSelector('.ledger > div:has-text("Sent") >> text=1')
  await page.route(/\/v1\/insights\/sends\?.*step_seconds=10800/, async (route) => {
    const answer = (await (await route.fetch()).json()) as { readonly totals: object }
    await route.fulfill({
      json: { ...answer, totals: { ...answer.totals, relayed: new URL(route.request().url()).searchParams.get('from') ? 1812 : 0 } },
    })
  })
  await page.click('.say .segments >> text=7 d')
  await page.waitForURL(/range=7d/)
  await page.waitForSelector('.ledger > div:has-text("Sent") >> text=1,812')
  await page.waitForSelector('.plot:has(h2:text-is("Messages")) >> text=per 3 h, by outcome')
  await page.waitForSelector('.say >> text=3 messages in 24 hours.')
  await tab.check(t)
})

test('whole screen in German, French and Italian', async (t) => {
  const server = await seeded(t, [orders(214), quota, ...attacks])
  for (const [locale, sentence, why, figures] of [
    [
      'de',
      'Alle Mails gehen hinaus.',
      'Der Endpunkt antwortet auf jede Anfrage mit 500.',
      /Gesendet[^]*Angenommene Empfänger[^]*Zurückgewiesen/,
    ],
    [
      'fr',
      'Tous les messages partent.',
      'Le point de terminaison répond 500 à chaque requête.',
      /Envoyés[^]*Destinataires acceptés[^]*Rebonds/,
    ],
    ['it', 'Tutti i messaggi partono.', 'L’endpoint risponde 500 a ogni richiesta.', /Inviati[^]*Destinatari accettati[^]*Respinti/],
  ] as const) {
    const tab = await server.open({ locale })
    await tab.go('/')
    await tab.page.waitForSelector(`.say h2:text-is("${sentence}")`)
    await tab.page.waitForSelector(`.look li >> text=${why}`)
    t.regex(await tab.page.innerText('.ledger'), figures)
    await tab.page.waitForSelector('.side-plots .plot >> nth=1')
    t.is(await tab.page.locator('main [lang=en]').count(), 0)
    await tab.check(t)
  }
})
