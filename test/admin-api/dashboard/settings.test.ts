/** Settings of the dashboard in Chromium: destinations, domains, keys, logins, suppressions and webhooks, in all states. */
import { waiting } from '../../support/waits.ts'
import { axeFaults, browserOf } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { startDashboard } from './dashboard-server.ts'
import { seed } from './seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('destinations: create, test, promote with evidence, demote, delete by name', async (t) => {
  const server = await startDashboard(t, browser)
  const sink = await Sink.listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  const tab = await server.open()
  const { page } = tab
  await tab.go('/destinations')
  await page.waitForSelector('text=No destinations yet')
  await tab.check(t)
  await page.click('.state >> text=New destination')
  await page.click('.tile:has-text("Other SMTP server")')
  await page.click('button:text-is("Save and check")')
  await page.waitForSelector('form [role=alert]')
  await tab.check(t)
  await tab.fill('Name', 'Relay')
  await tab.fill('Host', '127.0.0.1')
  await tab.fill('Port', String(sink.port))
  await page.getByLabel('Security', { exact: true }).selectOption('none')
  await page.click('button:text-is("Save and check")')
  await page.waitForSelector('h2:text-is("Relay works.")')
  await tab.go(/\/destinations\/dst_[^/]+/.exec(page.url())?.[0] ?? '')
  await page.waitForSelector('h2 >> text=Relay')
  await page.click('button:has-text("Test connection")')
  await page.waitForSelector('.tag >> text=passed')
  await tab.check(t)
  await page.getByLabel('Also send a deliverability test').check()
  await page.click('button:has-text("Collect evidence and send test")')
  await page.waitForSelector('.block [role=alert], .block .wrong')
  await tab.check(t)
  await tab.fill('From address of the test', 'Shop <shop@alpenblick.example>')
  await page.click('button:has-text("Collect evidence and send test")')
  await page.waitForSelector('text=The test is on its way. Its score appears here.')
  await tab.check(t)
  await page.click('header >> text=Go live')
  await page.getByLabel('No mail yet').check() // a routing rule would prevent the deletion of the destination
  await page.click('aside >> button:text-is("Go live with Relay")')
  await page.waitForURL(/first-mail/)
  await tab.go(/\/destinations\/dst_[^/]+/.exec(page.url())?.[0] ?? '')
  await page.click('text=Back to sandbox')
  await page.waitForSelector('.toast >> text=In sandbox mode')
  await page.click('.toast button')
  await page.waitForSelector('text=Live again.')
  await tab.go('/destinations')
  await page.waitForSelector('text=1 live, 0 in sandbox mode')
  t.is(await page.locator('.rows .strip').count(), 1, 'phones show the strip too')
  await tab.check(t)
  await page.click('tbody >> text=Relay')
  await page.click('text=Delete destination')
  await tab.fill('Type Relay to confirm', 'Relay')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Delete destination")')
  await page.waitForSelector('text=No destinations yet')
})

test('keys and logins: show the secret once, rotate, revoke', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  const secretOf = async (name: string): Promise<string> => page.innerText(`[data-secret=${name}]`)
  const done = async (): Promise<void> => {
    t.is(await page.getAttribute('dialog >> text=Done', 'aria-disabled'), 'true')
    // browsers close a dialog on the second Escape on their own
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape')
    await page.check('dialog[open] >> text=I stored it')
    await page.click('dialog >> text=Done')
    await page.waitForSelector('dialog', { state: 'detached' })
  }
  await tab.go('/settings/keys')
  await tab.check(t)
  await page.click('header >> text=New API key')
  await tab.fill('Name', 'Shop')
  await page.getByLabel('Permissions', { exact: true }).selectOption('api:read')
  await tab.check(t)
  const ended = JSON.stringify({ error: { code: 'unauthorized', message: 'The session has ended.', next_action: 'sign_in' } })
  const end = { status: 401, contentType: 'application/json', body: ended }
  await page.route('**/v1/api-keys*', (route) => route.fulfill(end), { times: 1 })
  await page.click('dialog >> text=Create')
  await page.waitForSelector('dialog [role=alert] a[href^="/sign-in?next="][target=_blank]')
  await page.click('dialog >> text=Create')
  await page.waitForSelector('text=Secret of Shop')
  await tab.check(t)
  const first = await secretOf('api_key')
  using reader = server.daemon.client(first)
  t.is((await reader.call('GET', '/v1/traces')).status, 200)
  await done()
  await page.click('tbody >> text=Shop')
  await tab.fill('Name', '')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog [role=alert]')
  await tab.fill('Name', 'Web shop')
  await tab.check(t)
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The key is saved.')
  await page.click('tbody >> text=Web shop')
  await tab.fill('Name', 'Shop')
  await page.getByLabel('Expires', { exact: true }).selectOption('30')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('tbody >> text=Web shop', { state: 'detached' })
  t.is((await reader.call('GET', '/v1/traces')).status, 200)
  await page.click('[aria-label="Rotate Shop"] >> visible=true')
  await page.click('dialog >> button:has-text("Rotate")')
  await page.waitForSelector('text=New secret of Shop')
  t.not(await secretOf('api_key'), first)
  t.is((await reader.call('GET', '/v1/traces')).status, 401)
  await done()
  await page.click('[aria-label="Revoke Shop"] >> visible=true')
  await tab.fill('Type Shop to confirm', 'Shop')
  await page.click('dialog >> button:has-text("Revoke")')
  await page.waitForSelector('.toast >> text=Shop is revoked.')
  await page.click('.sections >> text=SMTP logins')
  await page.waitForSelector('text=No SMTP logins yet')
  await tab.check(t)
  await page.click('header >> text=New SMTP login')
  await tab.fill('Name', 'CMS')
  await page.click('dialog >> text=Create')
  await page.waitForSelector('text=Secret of CMS')
  t.regex(await secretOf('smtp_username'), /^smtp_/)
  await done()
  await page.waitForSelector('tbody >> text=CMS')
  await tab.check(t)
})

test('suppressions: add, search, remove, undo; domains show their DNS records', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/recipients/suppressions')
  await page.waitForSelector('text=No suppressed addresses')
  await page.click('header >> text=Suppress an address')
  await tab.fill('Address', 'nonsense')
  await page.click('dialog >> button:has-text("Suppress an address")')
  await page.waitForSelector('dialog [role=alert]')
  await tab.fill('Address', 'gone@example.org')
  await tab.fill('Reason', 'asked by phone')
  await page.click('dialog >> button:has-text("Suppress an address")')
  await page.waitForSelector('tbody >> text=gone@example.org')
  await tab.check(t)
  await page.click('[aria-label="Actions for gone@example.org"] >> visible=true')
  t.deepEqual(await axeFaults(page, { at: [1440] }), [])
  await page.click('role=menuitem[name="Edit"]')
  await tab.fill('Reason', 'on holiday')
  await tab.fill('Suppressed until (your time zone)', '2020-01-01T00:00')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog [role=alert]')
  await tab.fill('Suppressed until (your time zone)', '2099-01-01T00:00')
  await tab.check(t)
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The suppression of gone@example.org is saved.')
  await page.waitForSelector('tbody >> text=on holiday')
  await page.fill('#find', 'nowhere')
  await page.press('#find', 'Enter')
  await page.waitForSelector('text=No matches')
  await page.click('text=Clear all')
  await page.focus('tbody a')
  await page.keyboard.press('m')
  await page.waitForSelector('.menu a:focus >> text=Edit')
  await page.keyboard.press('r')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=No suppressed addresses')
  await page.click('.toast button')
  await page.waitForSelector('tbody >> text=gone@example.org')
  await tab.go('/domains')
  await page.waitForSelector('text=No domains yet')
  await page.click('header >> text=Add a domain')
  await tab.fill('Domain', 'alpenblick.example')
  await page.click('dialog >> button:has-text("Add a domain")')
  await page.waitForSelector('text=Publish these records for alpenblick.example')
  t.regex(await page.innerText('.records'), /dkim[^]*v=DKIM1/)
  await page.waitForSelector('text=Not checked yet. The first check runs within minutes.')
  await page.click('text=Check now')
  await page.waitForSelector('text=Records checked.')
  await page.waitForSelector('header >> text=Check again')
  await tab.check(t)
  const keyOf = async (): Promise<string> => /v=DKIM1[^\n]*/.exec(await page.innerText('.records'))?.[0] ?? ''
  const old = await keyOf()
  await page.click('text="Rotate DKIM keys"')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Rotate DKIM keys")')
  await page.waitForSelector('.toast >> text=Publish the new records, then check again.')
  await page.waitForSelector(`.records:not(:has-text("${old}"))`)
  await tab.go('/domains')
  await page.waitForSelector('tbody >> text=alpenblick.example')
  await tab.check(t)
})

test('webhooks: create with secret, list all attempts, redeliver', async (t) => {
  const server = await startDashboard(t, browser)
  const receiver = await new WebhookReceiver({ answer: (response) => response.writeHead(503).end('upstream connect error') }).listen()
  t.teardown(() => receiver[Symbol.asyncDispose]())
  const tab = await server.open()
  const { page } = tab
  await tab.go('/settings/webhooks')
  await page.waitForSelector('text=No endpoints yet')
  await tab.check(t)
  const endpoint = { name: 'Order system', target_url: `http://127.0.0.1:${String(receiver.port)}/hooks` }
  await server.daemon.rest.must('POST', '/v1/webhooks', endpoint)
  await seed(t, server)
  await tab.go('/settings/webhooks')
  await page.click('tbody >> text=Order system')
  await page.waitForSelector('tbody tr >> text=bounced')
  await page.fill('.code-filter', '200')
  await page.press('.code-filter', 'Enter')
  await page.waitForSelector('text=No deliveries match')
  await tab.check(t)
  await page.click('.state >> text=Clear all')
  await page.selectOption('.narrowing select', 'bounced')
  await page.waitForURL(/event=bounced/)
  await page.click('tbody >> text=bounced')
  await page.waitForSelector('aside >> text=503')
  t.regex(await page.innerText('aside'), /upstream connect error/)
  const signature = /sha256=\w+/.exec(await page.innerText('aside'))?.[0]
  t.true(receiver.received.some(({ headers }) => headers['x-service-signature'] === signature))
  await tab.check(t)
  receiver.answer = (response) => response.writeHead(200).end('ok')
  await page.click('text=Redeliver')
  await page.waitForSelector('text=The event is being delivered again.')
  await page.click('text=Send test event')
  await page.waitForSelector('text=The test event arrived: 200.')
  const again = receiver.received.length
  await tab.go(new URL(page.url()).pathname)
  await page.waitForSelector('tbody tr >> nth=1')
  const rows = await page.locator('tbody tr').count()
  await page.check('thead .choose')
  await page.waitForSelector(`.selection-bar >> text=${String(rows)} selected`)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.waitForSelector('.rows .narrow-box input:checked >> nth=1')
  await tab.check(t)
  await page.click('.selection-bar >> text=Redeliver')
  await page.waitForSelector(`.toast >> text=${String(rows)} events are delivered again.`)
  await waiting('each was delivered again', receiver.hasReceived(again + rows))
})

test('roles: viewers see no forbidden action; billing sees invoices, not mail', async (t) => {
  const server = await startDashboard(t, browser)
  const olga = await server.open()
  const { live, sandbox } = await seed(t, server)
  const { rest } = server.daemon
  await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: live })
  await rest.must('POST', '/v1/failover/policy', { primary_id: live, fallback_ids: [sandbox], conditions: { on: ['transient'] } })
  const gates = { allowed_origins: ['https://a.example'], allowed_to: ['@a.example'], locked_from: 'a@a.example' }
  await rest.must('POST', '/v1/publishable-keys', gates)
  for (const [email, role] of [
    ['vera@alpenblick.example', 'viewer'],
    ['bill@alpenblick.example', 'billing'],
  ] as const) {
    const invitation = await server.daemon.rest.call('POST', '/v1/invitations', { email, role })
    const { accept_url: link } = invitation.body as { accept_url: string }
    const page = await (await browser().newContext()).newPage()
    await page.goto(link)
    await page.click('button:has-text("Join")')
    await page.context().close()
  }
  const vera = await server.open({ link: await server.signInLink('vera@alpenblick.example') })
  const setUp = [
    '/routing',
    '/routing?view=failover',
    '/queue/scheduled',
    '/inspect',
    '/incoming/sources',
    '/settings/members',
    '/settings/browser-keys',
    '/settings/projects',
    '/settings/agents',
    ...['/queue/replays', '/incoming/routes', '/recipients/unsubscribes'],
  ]
  for (const path of [
    '/',
    '/traces',
    '/destinations',
    '/settings/keys',
    '/settings/webhooks',
    '/recipients/suppressions',
    '/domains',
    ...setUp,
  ]) {
    await vera.go(path)
    const buttons = (await vera.page.locator('main button, main a.button').allInnerTexts()).join(' ')
    t.notRegex(buttons, /New|Send|Suppress|Add|Rotate|Revoke|Remove|Delete|Promote|Edit|Invite|Change|Get test|Cancel|Replay|Stop/, path)
  }
  await vera.check(t)
  const bill = await server.open({ link: await server.signInLink('bill@alpenblick.example') })
  await bill.page.waitForSelector('text=Your role has access only to billing')
  await bill.check(t)
  await olga.go('/traces')
})

test('untrusted text: names, subjects and headers show invisible characters', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const hostile = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>\u202Etxt.exe\u200B'
  const name = '<svg onload=alert(3)>'
  await rest.must('POST', '/v1/destinations', { name, provider: 'smtp', credentials: { host: '127.0.0.1', port: 9, security: 'none' } })
  const { trace_id: id } = await rest.must('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    subject: hostile,
    text: hostile,
    html: `<p onclick="alert(4)">Hello</p><script>alert(5)</script><iframe src="https://evil.example"></iframe><a href="javascript:alert(6)">x</a>`,
    headers: { 'X-Odd': hostile.replaceAll(/[\u202E\u200B]/g, '') },
    attachments: [{ filename: 'in\u202Egpj.exe', content: 'eA==', content_type: 'text/html' }],
  })
  const tab = await server.open()
  const { page } = tab
  let dialogs = 0
  page.on('dialog', (dialog) => {
    dialogs += 1
    void dialog.dismiss()
  })
  const inboxes = await rest.must('GET', '/v1/inboxes')
  const inbox = String((inboxes['data'] as { id: string }[])[0]?.id)
  const messages = await rest.must('GET', `/v1/inboxes/${inbox}/messages`)
  const message = String((messages['data'] as { id: string }[])[0]?.id)
  for (const path of ['/', '/traces', `/traces/${String(id)}`, '/destinations', `/captures/${inbox}/${message}`]) await tab.go(path)
  await page.frameLocator('iframe.paper').locator('text=Hello').waitFor()
  for (const one of ['text', 'source', 'headers', 'links', 'files', 'why']) {
    await tab.go(`/captures/${inbox}/${message}?tab=${one}`)
    t.is(await page.locator('main script, main img').count(), 0, one)
  }
  await rest.must('POST', '/v1/ingest-sources', { provider: 'postfix', label: hostile.slice(0, 60) })
  const key = { name: hostile.slice(0, 60), allowed_origins: ['https://a.example'], allowed_to: ['@a.example'], locked_from: 'a@a.example' }
  await rest.must('POST', '/v1/publishable-keys', key)
  const project = String((await rest.must('POST', '/v1/projects', { name }))['id'])
  const ofProject = ['/settings/projects', `/settings/projects/${project}?do=delete`, `/settings/projects/${project}/move`]
  for (const path of [
    ...ofProject,
    '/routing?new=1',
    '/routing?view=failover&new=1',
    '/incoming/sources',
    '/settings/browser-keys',
    '/settings/members',
  ]) {
    await tab.go(path)
    t.is(await page.locator('main script, main img, dialog script, dialog img, [onload]').count(), 0, path)
  }
  await tab.go(`/traces/${String(id)}`)
  t.regex(await page.innerText('main h2'), /<img src=x onerror=alert\(1\)>.*U\+202E.*U\+200B/)
  t.is(dialogs, 0)
  await tab.check(t)
})
