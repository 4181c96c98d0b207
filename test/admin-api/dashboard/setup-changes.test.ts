/** Changes of settings in Chromium: SMTP logins, endpoints, suppressions, destinations and inboxes. */
import { browserOf } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { openAs } from './open-as.ts'
import { startDashboard } from './dashboard-server.ts'
import { seed } from './seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('SMTP logins: configuration, connection test, changes', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { live } = await seed(t, server)
  const { id, username } = await rest.must('POST', '/v1/smtp-credentials', { label: '<b>Shop</b>', default_destination_id: live })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/settings/smtp-logins')
  await page.click('tbody a')
  await page.waitForURL(/login=smc_/)
  const text = (): Promise<string> => page.innerText('dialog')
  t.true((await text()).includes(`smtp://${String(username)}:PASSWORD@`))
  t.regex(await text(), /\(STARTTLS\)/)
  await page.click('dialog >> text=Postfix')
  await page.waitForSelector('dialog >> text=/relayhost = /')
  await page.click('dialog >> text=Test connection')
  await page.waitForSelector('dialog .checks >> text=destination_resolves')
  t.regex(await text(), /credential_active[^]*does not expire[^]*Infomaniak/)
  await tab.check(t)
  await page.click('dialog >> text=Change settings')
  await tab.fill('Messages per minute', '30')
  await tab.fill('Expires (UTC)', 'soon')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog .wrong')
  await tab.check(t)
  await tab.fill('Expires (UTC)', '2031-12-31')
  await page.getByLabel('Also check the From field').check()
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The login is saved.')
  t.like(await rest.must('GET', `/v1/smtp-credentials/${String(id)}`), {
    max_rate_per_min: 30,
    enforce_header_from: true,
    expires_at: '2031-12-31T00:00:00.000Z',
    default_destination_id: live,
  })
  await rest.must('PATCH', `/v1/smtp-credentials/${String(id)}`, { expires_at: null, enforce_header_from: false })
  const vera = await openAs(browser, server, 'viewer', { locale: 'de' })
  await vera.go(`/settings/smtp-logins?login=${String(id)}`)
  await vera.page.waitForSelector('dialog >> text=Einstellungen für ein Programm')
  t.is(await vera.page.locator('dialog >> text=Einstellungen ändern').count(), 0)
  await vera.check(t)
})

test('API keys: only send-only keys have failure notices', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { id } = await rest.must('POST', '/v1/api-keys', { name: 'Shop', send_only: true })
  const { id: reader } = await rest.must('POST', '/v1/api-keys', { name: 'Reports', scopes: ['api:read'] })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go(`/settings/keys?edit=${String(id)}`)
  await page.waitForSelector('dialog >> text=Failure notices today: 0 sent, 0 withheld')
  await page.getByLabel('Failure notices').selectOption('on')
  await tab.check(t)
  await tab.fill('Send notices to', 'ops@example.org')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast')
  const kept = { name: 'Shop', failure_notices: 'on', failure_notice_to: 'ops@example.org', expires_at: null }
  t.like(await rest.must('GET', `/v1/api-keys/${String(id)}`), kept)
  await tab.go(`/settings/keys?edit=${String(reader)}`)
  await page.waitForSelector('dialog >> text=The secret and the permissions do not change.')
  t.is(await page.getByLabel('Failure notices').count(), 0)
})

test('webhooks: change, pause, resume, delete; results of the last day', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  await seed(t, server)
  const { id } = await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: 'http://127.0.0.1:1/hook', event_types: ['bounced'] })
  const path = `/v1/webhooks/${String(id)}`
  const tab = await server.open()
  const { page } = tab
  const choose = async (what: string): Promise<void> => {
    await page.click('main [aria-label="More"]')
    await page.click(`.menu >> text=${what}`)
  }
  await tab.go('/settings/webhooks')
  await page.waitForSelector('.say >> text=No events in 24 hours.')
  await page.waitForSelector('tbody .status >> text=No events yet')
  await page.waitForSelector('th >> text=Parked')
  await tab.check(t)
  await page.click('tbody >> text=Shop')
  await page.waitForSelector('.ledger >> text=Parked now')
  await page.click('summary:has-text("Signature check")')
  await tab.check(t)
  await choose('Edit')
  await tab.fill('Name', '')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog .wrong')
  await tab.check(t)
  await tab.fill('Name', 'Shop 2')
  await page.getByLabel('complained', { exact: true }).check()
  await page.getByLabel('Format', { exact: true }).selectOption('sendgrid')
  await page.waitForSelector('dialog >> text=This format has no auto_suppressed event.')
  await tab.check(t)
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The endpoint is saved.')
  await page.waitForSelector('.endpoint >> text=SendGrid')
  const changed = await rest.must('GET', path)
  t.like(changed, { name: 'Shop 2', event_types: ['bounced', 'complained'], format: 'sendgrid' })
  await page.waitForSelector(`.endpoint >> text=${String(changed['verification_key']).slice(0, 40)}`)
  await tab.check(t)
  await choose('Pause')
  await page.waitForSelector('.endpoint .tag.bad')
  await page.focus('.toast button') // a focused toast stays
  await tab.check(t)
  t.is((await rest.must('GET', path))['paused'], true)
  await page.click('.toast button')
  await page.waitForSelector('.endpoint .tag.bad', { state: 'detached' })
  await tab.go('/settings/webhooks')
  await page.focus('tbody a')
  await page.keyboard.press('m')
  await page.click('role=menuitem[name="Pause"]')
  await page.waitForSelector('tbody .status >> text=Paused')
  await page.click('.toast button')
  await page.waitForSelector('tbody .status >> text=No events yet')
  await page.click('tbody >> text=Shop 2')
  await choose('Delete endpoint')
  await tab.fill('Type Shop 2 to confirm', 'Shop 2')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Delete endpoint")')
  await page.waitForURL(/\/settings\/webhooks$/)
  t.is((await rest.call('GET', path)).status, 404)
})

test('suppressions: import from a file or pasted lines after a count', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  await tab.go('/recipients/suppressions')
  await page.click('text="Import"')
  await page.waitForURL(/import=1/)
  t.is(await page.getAttribute('dialog button:has-text("Suppress addresses")', 'aria-disabled'), 'true')
  const lines = [
    '\uFEFFid,email,reason',
    '1,ada@example.org,"left, ""for good"""',
    '2,ADA@example.org,',
    '3,no address,x',
    '4,eva@example.org,',
    '',
  ]
  await page.setInputFiles('#import-file', { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) })
  await page.waitForSelector('dialog .would >> text=2 addresses to suppress')
  await page.waitForSelector('dialog .would >> text=2 new')
  t.regex(await page.innerText('dialog .would'), /1\s+listed more than once[^]*1\s+without an address/)
  await tab.check(t)
  await page.click('dialog >> text=Suppress addresses')
  await page.waitForSelector('.toast >> text=2 addresses are now suppressed')
  await page.waitForSelector('tbody tr >> nth=1')
  await page.click('text="Import"')
  await page.getByLabel('Or paste addresses here').fill('bob@example.org\neva@example.org\n<img src=x>@@bad\n')
  await page.waitForSelector('dialog .would >> text=1 already suppressed')
  await page.waitForSelector('dialog .would >> text=1 refused')
  await page.click('dialog >> text=Suppress addresses')
  await page.waitForSelector('dialog >> text=1 added, 1 already suppressed, 1 refused:')
  await tab.check(t)
  await page.click('dialog >> text=Done')
  await page.waitForSelector('tbody tr >> nth=2')
  await page.focus('tbody a')
  await page.keyboard.press('x')
  await page.waitForSelector('.selection-bar >> text=1 selected')
  await page.check('[aria-label="Select eva@example.org"]')
  await page.waitForSelector('.selection-bar >> text=2 selected')
  await tab.check(t)
  await page.click('.selection-bar >> text=Remove')
  await page.waitForSelector('.toast >> text=2 addresses are no longer suppressed.')
  await page.waitForSelector('tbody tr >> nth=1', { state: 'detached' })
  await page.click('.toast button')
  await page.waitForSelector('tbody tr >> nth=2')

  let deletions = 0
  await page.route(/\/v1\/suppressions\/[^/]+$/, (route) => {
    if (route.request().method() !== 'DELETE' || ++deletions === 1) return route.continue()
    return route.fulfill({ status: 409, json: { error: { code: 'conflict', message: 'Another change came first.' } } })
  })
  await page.check('[aria-label="Select all loaded entries"]')
  await page.click('.selection-bar >> text=Remove')
  await page.waitForSelector('.toast >> text=1 address is no longer suppressed. Another change came first.')
  await page.waitForSelector('tbody tr >> nth=2', { state: 'detached' })
  await page.click('.toast button')
  await page.waitForSelector('tbody tr >> nth=2')
})

test('destinations and inboxes: change; delete an inbox by its pattern', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { live } = await seed(t, server)
  const made = await rest.must('POST', '/v1/inboxes', { address_pattern: '@example.test', name: 'QA' })
  const inbox = `/v1/inboxes/${String(made['id'])}`
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/destinations/${live}`)
  await page.click('text="Change settings"')
  await tab.fill('Default From address', 'no address')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog .wrong')
  await tab.check(t)
  await tab.fill('Priority', '7')
  await tab.fill('Environment', 'production')
  await tab.fill('Default From address', 'shop@alpenblick.example')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast')
  t.like(await rest.must('GET', `/v1/destinations/${live}`), { priority: 7, environment: 'production', from: 'shop@alpenblick.example' })
  await page.keyboard.press('t')
  await page.waitForSelector('.tag >> text=passed')
  await page.click('text="Change settings"')
  await tab.fill('Port', '0')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog .wrong')
  await tab.fill('Port', '1')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('dialog', { state: 'detached' })
  t.like(await rest.must('GET', `/v1/destinations/${live}`), { credentials: { port: 1 } })
  await tab.go(`/captures/${String(made['id'])}`)
  await page.click('summary:has-text("Inbox details")')
  await page.click('text="Change inbox"')
  await tab.fill('Retention (days)', '3')
  await tab.check(t)
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The inbox is saved.')
  t.is((await rest.must('GET', inbox))['retention_days'], 3)
  await page.click('text="Delete inbox"')
  await tab.fill('Type @example.test to confirm', '@example.test')
  await page.click('dialog >> button:has-text("Delete inbox")')
  await page.waitForSelector('dialog', { state: 'detached' })
  t.is((await rest.call('GET', inbox)).status, 404)
})
