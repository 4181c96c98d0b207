/** Routing, scheduled messages, deliverability tests and bounce sources in Chromium, in all states. */
import { createHmac } from 'node:crypto'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { browserOf } from '../../support/web/browser.ts'
import { waitFor } from '../../support/waits.ts'
import { testWith } from '../../support/peers/peers.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const relay = { provider: 'smtp', credentials: { host: '127.0.0.1', port: 9, security: 'none' } }

test('routing rules: create, reorder, test, undo', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const [first, second] = await Promise.all(
    ['First', 'Second'].map(async (name) => String((await rest.must('POST', '/v1/destinations', { name, ...relay }))['id'])),
  )
  const tab = await server.open()
  const { page } = tab
  await tab.go('/routing')
  await page.waitForSelector('text=No rules yet')
  await tab.check(t)
  for (const [sender, name] of [
    ['shop@example.ch', 'First'],
    ['*', 'Second'],
  ] as const) {
    await page.click('header >> text=New rule')
    await tab.fill('Sender', sender)
    await page.getByLabel('Destination', { exact: true }).selectOption({ label: `${name} (sandbox)` })
    await page.click('dialog >> button:has-text("Create")')
    await page.waitForSelector('dialog', { state: 'detached' })
    await page.waitForSelector(`tbody >> text=${sender}`)
  }
  await tab.check(t)
  const order = async () =>
    ((await rest.must('GET', '/v1/routing/rules'))['data'] as { destination_id: string }[]).map((one) => one.destination_id)
  t.deepEqual(await order(), [first, second])
  for (const wanted of [
    [second, first],
    [first, second],
  ]) {
    await page.dragAndDrop('tbody tr >> nth=1', 'tbody tr >> nth=0')
    await waitFor('the order is changed', async () => String(await order()) === String(wanted))
    await page.waitForSelector(`tbody tr:first-child >> text=${wanted[0] === first ? 'shop@example.ch' : 'any sender'}`)
  }
  await page.click('[aria-label="Move up: *"] >> visible=true')
  await page.waitForSelector('.toast >> text=The order is saved.')
  await waitFor('the order is changed', async () => String(await order()) === String([second, first]))
  await page.click('[aria-label="Edit: *"] >> visible=true')
  await page.waitForURL(/edit=rul_/)
  await tab.check(t)
  await tab.fill('Sender', 'nonsense nonsense')
  await page.click('dialog >> button:has-text("Save")')
  await page.waitForSelector('dialog [role=alert]')
  await page.click('dialog >> text=Cancel')
  await tab.fill('From', 'shop@example.ch')
  await tab.fill('To', 'ada@example.org')
  await page.click('aside >> text=Try')
  await page.waitForURL(/from=shop/)
  await page.waitForSelector('text=Result: captured.sandbox_destination')
  await page.waitForSelector('.verdict .decisions >> text=/The rule for any sender .priority \\d+. selects the destination Second/')
  await page.waitForSelector('.verdict .decisions >> text=The destination Second is in sandbox mode')
  await tab.check(t)
  await page.check('text=The sending program gets the error no_route.')
  await page.waitForSelector('.toast >> text=Saved. The new policy')
  t.is(
    (await rest.must('GET', `/v1/projects/${String((await rest.must('GET', '/v1/projects/me'))['project_id'])}`))['no_route_policy'],
    'reject',
  )
  await page.click('[aria-label="Remove *"] >> visible=true')
  await page.waitForSelector('.toast >> text=The rule is deleted.')
  t.deepEqual(await order(), [first])
  await page.click('.toast button')
  await page.waitForSelector('tbody tr >> nth=1')
  t.deepEqual(await order(), [second, first])
})

test('failover: a policy routes mail to the fallback destination', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const [first, second] = await Promise.all(
    ['First', 'Second'].map(async (name) => String((await rest.must('POST', '/v1/destinations', { name, ...relay }))['id'])),
  )
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  await tab.go('/routing')
  await page.click('[role=tab]:has-text("Failover")')
  await page.waitForSelector('text=No failover policies yet')
  await tab.check(t)
  await page.click('header >> text=New failover policy')
  await page.getByLabel('Destination', { exact: true }).selectOption(first ?? '')
  await page.getByLabel('Fallback 1', { exact: true }).selectOption(second ?? '')
  await page.check('text=slow responses')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Save")')
  await page.waitForSelector('tbody >> text=Second')
  t.regex(await page.innerText('tbody'), /First[^]*Second[^]*available/)
  await tab.check(t)
  await page.click('[aria-label="Simulate failure: First"] >> visible=true')
  await page.waitForSelector('text=0 messages checked')
  t.is(await page.getByLabel('Destination that is down').inputValue(), first ?? '')
  await page.goBack()
  await page.waitForSelector('tbody >> text=Second')
  await page.click('[aria-label="Remove First"] >> visible=true')
  await page.waitForSelector('text=No failover policies yet')
  await page.click('.toast button')
  await page.waitForSelector('tbody >> text=Second')
})

test('scheduled messages: list, cancel, send now', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  await tab.go('/queue/scheduled')
  await page.waitForSelector('text=No scheduled sends')
  await tab.check(t)
  const { id } = await rest.must('POST', '/v1/destinations', { name: 'Live', ...relay })
  await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  const { trace_id: trace } = await rest.must('POST', '/v1/messages', {
    ...{ from: 'shop@alpenblick.example', to: 'ada@example.org', subject: 'Tomorrow', text: 'x', destination_id: id },
    send_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await tab.go('/queue/scheduled')
  await page.waitForSelector('text=One scheduled send, on')
  await page.waitForSelector('tbody .c-when >> text=/\\d\\d:\\d\\d UTC/')
  await tab.check(t)
  const sendAt = new Date(Date.now() + 2 * 86_400_000)
  await reschedule(t, tab, 'Tomorrow', sendAt)
  t.is(String((await rest.must('GET', `/v1/traces/${String(trace)}`))['send_at']).slice(0, 16), sendAt.toISOString().slice(0, 16))
  await page.focus('tbody a')
  await page.keyboard.press('Backspace')
  await page.waitForSelector('dialog')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Cancel the send")')
  await page.waitForSelector('.toast >> text=The send is canceled.')
  await page.waitForSelector('text=No scheduled sends')
  await page.click('.pills >> text=canceled')
  await page.waitForURL(/status=canceled/)
  await page.waitForSelector('tbody >> text=Tomorrow')
  t.is((await rest.must('GET', `/v1/traces/${String(trace)}`))['status'], 'canceled')
  await tab.check(t)
  await rest.must('PATCH', `/v1/destinations/${String(id)}/mode`, { mode: 'sandbox' })
  const { trace_id: later } = await rest.must('POST', '/v1/messages', {
    ...{ from: 'shop@alpenblick.example', to: 'ada@example.org', subject: 'Later', text: 'x', destination_id: id },
    send_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await tab.go('/queue/scheduled')
  await page.click('[aria-label="Send now: Later"] >> visible=true')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Send now")')
  await page.waitForSelector('.toast >> text=The message is being sent now.')
  await tab.go(`/traces/${String(later)}`)
  await page.waitForSelector('text=/captured immediately|At its scheduled time, the message was captured/')
  for (const subject of ['One', 'Two', 'Three'])
    await rest.must('POST', '/v1/messages', {
      ...{ from: 'shop@alpenblick.example', to: 'ada@example.org', subject, text: 'x', destination_id: id },
      send_at: new Date(Date.now() + 86_400_000).toISOString(),
    })
  await page.setViewportSize({ width: 390, height: 844 })
  await tab.go('/queue/scheduled')
  for (const subject of ['One', 'Two']) await page.check(`.rows [aria-label="Select ${subject}"]`)
  await page.waitForSelector('.selection-bar >> text=2 selected')
  await tab.check(t)
  await page.click('.selection-bar >> text=Cancel')
  await page.waitForSelector('dialog >> text=Cancel 2 sends?')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Cancel the send")')
  await page.waitForSelector('.toast >> text=2 sends are canceled.')
  await page.waitForSelector('text=One scheduled send, on')
  const { data } = (await rest.must('GET', '/v1/messages/scheduled?status=queued')) as { data: { subject: string }[] }
  t.deepEqual(
    data.map(({ subject }) => subject),
    ['Three'],
  )
})

/** Reschedules a message, after a rejected time that is too late. */
async function reschedule(t: ExecutionContext, { page, fill, check }: DashboardTab, subject: string, at: Date): Promise<void> {
  const local = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone: 'Europe/Zurich' }).format(at)
  await page.click(`[aria-label="Reschedule: ${subject}"] >> visible=true`)
  await fill('New send time (your time zone)', '2099-01-01T00:00')
  await page.click('dialog >> button:has-text("Reschedule")')
  await page.waitForSelector('dialog [role=alert]')
  await check(t)
  await fill('New send time (your time zone)', local.replace(' ', 'T'))
  await page.click('dialog >> button:has-text("Reschedule")')
  await page.waitForSelector('.toast >> text=The message is rescheduled to')
}

/** Runs a setup script with all absolute paths moved into a folder. Runs nothing if a path would be outside of it. Returns the folder. */
async function runAsRoot(t: ExecutionContext, script: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder('machine')
  t.teardown(() => folder[Symbol.asyncDispose]())
  const root = folder.path
  for (const path of ['/etc/cron.d/x', '/usr/local/sbin/x', '/var/lib/x', '/var/log/x', ...Object.keys(files)])
    await mkdir(dirname(join(root, path)), { recursive: true })
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text)
  const absolute = /(?<![\w.:/-])\/(?=[\w.])/g
  const moved = script.replaceAll(absolute, `${root}/`)
  const outside = moved.replaceAll(`${root}/`, '').match(absolute)
  if (outside) throw new Error(`script paths are outside of ${root}: ${moved}`)
  await promisify(execFile)('sh', ['-c', moved])
  return root
}

test('bounce sources: secret once, installation, unmatched reports', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/incoming/sources')
  await page.waitForSelector('text=No bounce sources yet')
  await tab.check(t)
  await page.click('.offered a:has-text("Postfix")')
  await page.click('dialog >> button:has-text("Create")')
  const ofPostfix = await page.innerText('[data-secret=hmac_secret]')
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  await page.click('tbody >> text=postfix')
  const line =
    'Nov 24 08:00:00 mx1 postfix/smtp[7]: 4F1: to=<a@example.org>, relay=mx[192.0.2.1]:25, dsn=5.1.1, status=bounced (host said: 550 5.1.1 no)'
  const machine = await runAsRoot(t, (await page.innerText('aside pre')).replace('…', ofPostfix), { '/var/log/mail.log': `${line}\n` })
  t.is((await stat(join(machine, '/etc/postern/log-shipper.conf'))).mode & 0o777, 0o600)
  t.regex(await readFile(join(machine, '/etc/cron.d/postern-log-shipper'), 'utf8'), /^(\* ){5}root \S+\/postern-log-shipper\n$/)
  await page.reload()
  await page.waitForSelector('aside pre')
  t.notRegex(await page.innerText('main'), /no reports yet/, 'the source has reported')
  await tab.go('/incoming/sources')
  await page.click('header >> text=New bounce source')
  await tab.fill('Name', 'mx1')
  await page.check('text=Poll a mailbox')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('dialog [role=alert]')
  await page.uncheck('text=Poll a mailbox')
  await page.getByLabel('Server', { exact: true }).selectOption('mailenable')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('text=Signing secret of mx1')
  t.true((await page.innerText('[data-secret=hmac_secret]')).length > 20)
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  await page.click('tbody >> text=mx1')
  await page.waitForURL(/\/incoming\/sources\/src_/)
  t.regex(await page.innerText('aside pre'), /X-Service-Signature' = "sha256=\$signature"/)
  const source = `/v1/ingest-sources/${page.url().split('/').at(-1) ?? ''}`
  await page.click('text=Rotate secret')
  await page.waitForSelector('dialog >> text=Requests signed with the old secret are rejected immediately.')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Rotate")')
  const secret = await page.innerText('[data-secret=hmac_secret]')
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  const { webhook_url: url } = await server.daemon.rest.must('GET', source)
  const body = readFileSync(new URL('../../fixtures/ingest-samples/mailenable-bounce-envelope.json', import.meta.url))
  const signed = { 'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` }
  t.is((await fetch(String(url), { method: 'POST', body, headers: signed })).status, 202)
  await page.reload()
  await page.waitForSelector('.ledger div:has-text("bounced, last 24 h") >> text="2"')
  await tab.check(t)
  await page.click('text=Map a postoffice')
  await tab.fill('Postoffice', 'Customer-A')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('main >> text=Customer-A')
  await tab.check(t)
  await page.click('[aria-label="Remove Customer-A"]')
  await page.waitForSelector('text=No postoffices are mapped')
  await page.click('.toast button')
  await page.waitForSelector('main >> text=Customer-A')
  await page.click('text=Revoke source')
  await tab.fill('Type mx1 to confirm', 'mx1')
  await page.click('dialog >> button:has-text("Revoke source")')
  await page.waitForSelector('tbody >> text=postfix')
})

async function inGerman(t: ExecutionContext, server: DashboardServer, report: string): Promise<void> {
  const tab = await server.open({ locale: 'de' })
  await tab.go(report)
  await tab.page.waitForSelector('#check-dkim >> text=Die E-Mail ist nicht signiert.')
  t.deepEqual(await tab.page.locator('.found [lang=en]:not(a)').allTextContents(), [], 'all findings are translated')
  await tab.check(t)
}

test('deliverability tests: wait for mail, show remedies with evidence', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/inspect')
  await page.waitForSelector('text=No deliverability tests yet')
  await tab.check(t)
  await page.click('header >> text=Get test address')
  await page.waitForSelector('text=Waiting for your mail')
  await tab.check(t)
  const address = await page.innerText('.target code')
  const deliver = async (to: string, content: Buffer): Promise<void> => {
    const client = await SmtpClient.connect({ port: Number(server.daemon.addresses.mx.split(':')[1]) })
    t.true((await client.send({ from: 'shop@alpenblick.example', to: [to], content })).accepted)
    await client.quit()
  }
  const hostile = '<img src=x onerror=alert(1)>'
  const content = Buffer.from(
    `From: Shop ${hostile.replaceAll(/[<>]/g, '')} <shop@alpenblick.example>\r\nTo: ${address}\r\nSubject: ${hostile}\r\n\r\nHello\r\n`,
  )
  await deliver(address, content)
  await page.waitForSelector('h2 >> text=/\\d+ of 100/')
  await page.waitForSelector('h2 >> text=Fix first')
  t.is(await page.locator('main img').count(), 0)
  t.regex(await page.innerText('main'), /DKIM/)
  await tab.check(t)
  for (const group of ['Sender', 'Sending server', 'Domains', 'Format', 'Content']) await page.waitForSelector(`h2:text-is("${group}")`)
  t.is(await page.locator('.inspected > li').count(), 17)
  await page.click('#check-subject_and_sender > summary')
  await page.click('.to-mend >> text=DKIM')
  await page.waitForSelector('#check-dkim[open]')
  await inGerman(t, server, new URL(page.url()).pathname)
  t.is(await page.evaluate('document.activeElement.parentElement.id'), 'check-dkim')
  await page.click('header >> text=Test again')
  await page.waitForSelector('text=Waiting for your mail')
  const second = await page.innerText('.target code')
  await deliver(
    second,
    Buffer.from(
      `From: Shop <shop@alpenblick.example>\r\nTo: ${second}\r\nSubject: Hello\r\nDate: ${new Date().toUTCString()}\r\nMessage-ID: <a@alpenblick.example>\r\n\r\nHello\r\n`,
    ),
  )
  await page.waitForSelector('h2 >> text=/\\d+ of 100/')
  await tab.go('/inspect')
  await page.waitForSelector('tbody tr >> nth=1')
  await tab.check(t)
  await page.check('thead .choose')
  await page.click('.selection-bar >> text=Compare')
  await page.waitForURL(/\/inspect\/compare\?.*first=.*second=/)
  await page.waitForSelector('h2 >> text=/The score rose by \\d+ points?/')
  t.regex(await page.innerText('section[aria-label="Changed"]'), /Before: failed[^]*After: (?:passed|can improve)/)
  t.is(await page.locator('main img').count(), 0)
  await tab.check(t)
  const [older, newer] = await Promise.all(['Before', 'After'].map((label) => page.getByLabel(label, { exact: true }).first().inputValue()))
  await page
    .getByLabel('Before', { exact: true })
    .first()
    .selectOption(newer ?? '')
  await page.waitForSelector('text=The score did not change.')
  await page
    .getByLabel('After', { exact: true })
    .first()
    .selectOption(older ?? '')
  await page.waitForSelector('h2 >> text=/The score fell by \\d+ points?/')
})
