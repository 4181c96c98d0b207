/** Trace page in Chromium: rendered message, also of relayed mail, header, public link and diagnosis. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('trace page: shows a relayed message as HTML, text, source and header', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go(`/traces/${traces.bounced}`)
  await page.frameLocator('iframe.paper').locator('text=Ihre Bestellung ist unterwegs').waitFor()
  t.regex(await page.innerText('.message-bar'), /1 remote image not loaded/)
  t.is(await page.getAttribute('iframe.paper', 'sandbox'), 'allow-popups allow-popups-to-escape-sandbox')
  await tab.check(t)
  await page.click('.message-bar >> text=Text')
  await page.waitForURL(/view=text/)
  t.is((await page.innerText('.paper.text')).trim(), 'Guten Tag')
  await page.click('.message-bar >> text=Source')
  await page.waitForSelector('pre.code >> text=Content-Type: multipart/alternative')
  await tab.check(t)
  await page.click('[role=tab]:has-text("Headers")')
  await page.waitForSelector('.headers >> text=Message-ID')
  await tab.check(t)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('[role=tab]:has-text("Message")').then(() => page.click('text=Save as .eml')),
  ])
  t.is(download.suggestedFilename(), `${traces.bounced}.eml`)
})

test('trace headers: hops, delays and authentication results above the fields', async (t) => {
  const server = await startDashboard(t, browser)
  const { trace_id: id } = await server.daemon.rest.must('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    subject: 'Hops',
    text: 'x',
    headers: { 'X-Odd': '<img src=x onerror=alert(1)>' },
  })
  const tab = await server.open()
  const { page } = tab
  await page.route('**/v1/traces/*/message', async (route) => {
    const response = await route.fetch()
    const message = (await response.json()) as { headers: object[] }
    const earlier = [
      { name: 'Received', value: 'from a by mx.example.org with ESMTP; Mon, 23 Nov 2026 08:00:42 +0000' },
      { name: 'Received', value: 'from b by relay.example.org with ESMTP; Mon, 23 Nov 2026 08:00:00 +0000' },
      { name: 'Authentication-Results', value: 'mx.example.org; spf=pass smtp.mailfrom=a; dkim=fail (bad signature); dmarc=none' },
    ]
    await route.fulfill({ response, json: { ...message, headers: [...earlier, ...message.headers] } })
  })
  await tab.go(`/traces/${String(id)}?tab=headers`)
  t.deepEqual(await page.locator('.hops li').allInnerTexts(), [
    'relay.example.org\n2026-11-23T08:00:00.000Z',
    'mx.example.org\n2026-11-23T08:00:42.000Z\n+42\u00a0s',
  ])
  t.deepEqual(await page.locator('.auth-results li').allInnerTexts(), ['spf=pass', 'dkim=fail', 'dmarc=none'])
  t.regex(await page.innerText('.headers'), /<img src=x onerror=alert\(1\)>/)
  await tab.check(t)
})

test('trace page: explains a missing message; all entries are translated', async (t) => {
  const server = await startDashboard(t, browser)
  const refused = await server.daemon.rest.call('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    destination_id: 'dst_none',
    text: 'x',
  })
  const { details } = (refused.body as { error: { details: { trace_id: string } } }).error
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/traces/${details.trace_id}`)
  await page.waitForSelector('text=The request was refused, so no message was stored.')
  t.is(await page.locator('.top >> text=Diagnose').count(), 0)
  await tab.check(t)
  for (const [locale, texts] of [
    ['de', 'Keine Nachricht zum Anzeigen.'],
    ['fr', 'Aucun message à afficher.'],
    ['it', 'Nessun messaggio da mostrare.'],
  ] as const) {
    const other = await server.open({ locale })
    await other.go(`/traces/${details.trace_id}`)
    await other.page.waitForSelector(`text=${texts}`)
    t.is(await other.page.locator('.trace-timeline .note b[lang=en]').count(), 0, 'the reason of the refusal is translated')
    await other.check(t)
    await other.page.route('**/v1/traces/*', async (route) => {
      const trace = (await (await route.fetch()).json()) as object
      await route.fulfill({ json: { ...trace, status: 'sent', outcome: 'relayed', timeline: everyEntry } })
    })
    await other.go(`/traces/${details.trace_id}`)
    await other.page.waitForSelector('.trace-timeline ol > li >> nth=30')
    t.deepEqual(await other.page.locator('.trace-timeline [lang=en]').allInnerTexts(), [], 'every entry is translated')
    t.notRegex(await other.page.innerText('.trace-timeline'), /ENGLISH/)
    await other.check(t)
    await other.page.unrouteAll({ behavior: 'wait' })
  }
})

const dest = 'dst_1'
const by = 'key_1'
const later = '2026-11-24T08:00:00.000Z'
const report = { recipient: 'a@example.org', reported_at: later, verified: true, diagnostic: null, report_id: null, source: 'dsn' }

/** One entry per event with all details. The text of the service marks events that would stay English. */
const everyEntry = Object.entries({
  accepted: { door: 'rest', submitted_by: by, mail_from: 'a@example.org', released_from: 'x' },
  scheduled: { send_at: later },
  'scheduled forward': { send_at: later, brought_forward_by: by, planned: later },
  'scheduled again': { send_at: later, rescheduled_by: by, planned: later },
  verp: { bounce_domain: 'b.example.org' },
  'verp off': { bounce_domain: null, off: 'no_domain' },
  dialect: { api: 'Resend', ignored_fields: [] },
  'dialect ignoring': { api: 'Resend', ignored_fields: ['tags'] },
  suppressed: { recipients: [{ address: 'a@example.org', source: 'manual', reason: null, suppression_id: 's' }] },
  'suppressed list': { recipients: [{ address: 'a@example.org', source: 'unsubscribe', reason: null, suppression_id: 's' }] },
  retry_scheduled: { next_attempt_at: later },
  replayed: { job_id: 'rpl_1', destination_id: dest, recipients: 2 },
  retried: { destination_id: dest, recipients: 1 },
  failover: { from: 'dst_0', to: dest, cause: 'breaker_open' },
  waiting: { destination_id: dest, breaker: 'open', next_trial_at: later },
  sent: { attempts: 1, seconds: 1 },
  partly_sent: { attempts: 1, seconds: 1 },
  failed: { attempts: 1, seconds: 1 },
  canceled: { canceled_by: by },
  approval_requested: { digest: 'x', expires_at: later },
  approved: { decided_by: by, email: 'ada@example.org' },
  refused: { decided_by: by, email: null },
  expired: { decided_by: null, email: null },
  withdrawn: { decided_by: by, email: null },
  validation_failed: { submitted_by: by, code: 'no_route' },
  tracking: { clicks: true, links: 3, opens: true, untracked_reason: null },
  'tracking nothing': { clicks: false, links: 0, opens: false, untracked_reason: 'no_html' },
  opened: { recipient: null },
  clicked: { recipient: 'a@example.org', link: 2, url: 'https://example.org' },
  delivered: report,
  bounced: report,
  complained: report,
  deferred: report,
  bounce_unparsed: report,
  auto_suppressed: { recipient: 'a@example.org', suppression_id: 's' },
}).map(([event, detail]) => ({ at: later, event: event.split(' ')[0], message: 'ENGLISH', detail }))

test('trace sharing: shows the public content before the link is copied', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go(`/traces/${traces.bounced}`)
  await page.keyboard.press('s')
  await page.waitForSelector('dialog .share-preview >> text=***@example.org')
  t.regex(await page.innerText('dialog .share-preview'), /Routed and relayed[^]*Attempt 1/)
  const preview = await page.innerText('dialog')
  t.notRegex(preview, /office|shop@alpenblick|Ihre Bestellung/)
  t.regex(preview, /550 <\[hidden\]>: Recipient address rejected: User unknown/)
  t.true(preview.includes(`${server.url}/share/traces/${traces.bounced}`))
  await tab.check(t)
  const [shared] = await Promise.all([page.waitForEvent('popup'), page.click('dialog >> text=Open the link')])
  await shared.waitForSelector('.reply >> text=User unknown')
  await shared.close()
})

test('trace page: diagnosis above the timeline; viewers have no actions', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/traces/${traces.sent}`)
  await page.click('.top >> text=Diagnose')
  await page.waitForURL(/diagnose=1/)
  await page.waitForSelector('.diagnosis p b')
  await tab.check(t)
  await tab.go(`/traces/${traces.bounced}?diagnose=1`)
  await page.waitForSelector('.diagnosis ol li')
  t.regex(await page.innerText('.diagnosis'), /recipient unknown/)
  await tab.check(t)
  const anna = await server.open({ locale: 'de' })
  await anna.go(`/traces/${traces.bounced}?diagnose=1`)
  await anna.page.waitForSelector(
    '.trace-timeline >> text=Das Postfach existiert auf dem Server nicht. Berichtigen Sie die Adresse oder sperren Sie sie.',
  )
  await anna.page.waitForSelector('.diagnosis summary >> text=Vollständige Erklärung (auf Englisch)')
  await anna.go(`/traces/${traces.sent}?diagnose=1`)
  await anna.page.waitForSelector('.diagnosis li >> text=Der Anbieter hat die Nachricht angenommen')
  await anna.check(t)
  await page.click('.top >> text=Hide diagnosis')
  await page.waitForSelector('.diagnosis', { state: 'detached' })
  const vera = await openAs(browser, server, 'viewer')
  await vera.go(`/traces/${traces.bounced}`)
  await vera.page.frameLocator('iframe.paper').locator('text=Ihre Bestellung ist unterwegs').waitFor()
  t.is(await vera.page.locator('main >> text=/Replay|Suppress address/').count(), 0)
  await vera.page.click('[role=tab]:has-text("Recipients")')
  await vera.check(t)
})
