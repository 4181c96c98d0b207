/** Journeys of administrators in Chromium: a failed webhook, a new member, and the life cycle of an API key. */
import { testWith } from '../../../support/peers/peers.ts'
import { waiting } from '../../../support/waits.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { receiverOf } from '../../../support/web/webhook-receiver.ts'
import { startDashboard, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** Returns a displayed secret. Confirms that it is stored and closes the dialog. */
async function takeSecret({ page }: DashboardTab, name: string): Promise<string> {
  const secret = await page.innerText(`[data-secret=${name}]`)
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  await page.waitForSelector('dialog', { state: 'detached' })
  return secret
}

test('webhooks: redelivers a rejected event with the same id from its page', async (t) => {
  const server = await startDashboard(t, browser)
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(503).end('upstream connect error') })
  const sink = await Sink.listen({ script: { recipient: () => '550 5.1.1 User unknown' } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const tab = await server.open()
  const { page } = tab
  await tab.go('/settings/webhooks')
  await page.click('header >> text=New endpoint')
  await tab.fill('Name', 'Order system')
  await tab.fill('Endpoint', receiver.url)
  await page.click('dialog >> text=Create')
  await page.waitForSelector('text=Secret of Order system')
  await takeSecret(tab, 'hmac_secret')
  const { rest } = server.daemon
  const live = await makeDestination(rest, { name: 'live', port: sink.port, mode: 'live' })
  const message = { from: 'shop@alpenblick.example', to: 'anna@shop.example', subject: 'Order', text: 'x', destination_id: live }
  await rest.must('POST', '/v1/messages', message)
  const [refused] = await waiting('the event is delivered', receiver.hasReceived(1))
  await tab.go('/settings/webhooks')
  await page.click('tbody >> text=Order system')
  await page.click('tbody >> text=failed')
  await page.waitForSelector('aside >> text=upstream connect error')
  await page.waitForSelector('.ledger > div:has-text("Waiting for a retry") >> text=1')
  await page.waitForSelector('.ledger > div:has-text("Latency p50") >> text=/p95 \\d+\\sms/')
  await page.waitForSelector('.ledger [role=img][aria-label^="Succeeded, last 24 h: 0"]')
  receiver.answer = (response) => response.writeHead(200).end('ok')
  const before = receiver.received.length
  await page.keyboard.press('r')
  const all = await waiting('the event is delivered again', receiver.hasReceived(before + 1))
  const again = all[before]
  t.is((JSON.parse(again?.body ?? '') as { id: string }).id, (JSON.parse(refused?.body ?? '') as { id: string }).id)
  await page.waitForSelector('aside >> text=200')
  await tab.check(t)
})

test('members: an invited member joins by link; the service enforces the role', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  await tab.go('/settings/members')
  await tab.page.click('header >> text=Invite a member')
  await tab.fill('Email address', 'dev@alpenblick.example')
  await tab.page.click('dialog >> button:has-text("Invite")')
  await tab.page.waitForSelector('text=Invitation for dev@alpenblick.example')
  const link = await takeSecret(tab, 'accept_url')
  const context = await browser().newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } })
  t.teardown(() => context.close())
  const dev = await context.newPage()
  await dev.goto(link)
  await dev.click('button:has-text("Join")')
  await dev.goto(`${server.url}/`)
  await dev.click('.steps >> text=Send a captured test')
  await dev.click('dialog >> text=Send a captured test')
  await dev.waitForSelector('text=Captured, not sent.')
  await dev.goto(`${server.url}/recipients/suppressions`)
  await dev.waitForSelector('text=No suppressed addresses')
  t.is(await dev.locator('header >> text=Suppress an address').count(), 0)
  await tab.go('/settings/members')
  await tab.page.waitForSelector('tbody >> text=dev@alpenblick.example')
  await tab.page.waitForSelector('text=No open invitations.')
})

test('API keys: create, use, rotate and revoke; old secrets fail at once', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const status = async (key: string): Promise<number> => {
    using client = server.daemon.client(key)
    return (await client.call('GET', '/v1/traces')).status
  }
  await tab.go('/settings/keys')
  await page.click('header >> text=New API key')
  await tab.fill('Name', 'Shop')
  await page.getByLabel('Permissions', { exact: true }).selectOption('api:read')
  await page.click('dialog >> text=Create')
  await page.waitForSelector('text=Secret of Shop')
  const first = await takeSecret(tab, 'api_key')
  t.is(await status(first), 200)
  await page.click('[aria-label="Rotate Shop"] >> visible=true')
  await page.click('dialog >> button:has-text("Rotate")')
  await page.waitForSelector('text=New secret of Shop')
  const second = await takeSecret(tab, 'api_key')
  t.deepEqual([await status(first), await status(second)], [401, 200])
  await page.click('[aria-label="Revoke Shop"] >> visible=true')
  await tab.fill('Type Shop to confirm', 'Shop')
  await page.click('dialog >> button:has-text("Revoke")')
  await page.waitForSelector('.toast >> text=Shop is revoked.')
  t.is(await status(second), 401)
  for (const secret of [first, second]) t.false((await page.content()).includes(secret))
})

test('secrets: Back and reload keep the dialog until the secret is stored', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/settings/webhooks')
  await page.click('.sections a[href^="/settings/keys"]')
  await page.click('header >> text=New API key')
  await tab.fill('Name', 'Shop')
  await page.click('dialog >> text=Create')
  const shown = '[data-secret=api_key]'
  const secret = await page.innerText(shown)
  for (let i = 0; i < 3; i++) {
    await page.goBack()
    await page.waitForURL((url) => url.pathname === '/settings/keys')
    t.is(await page.innerText(shown), secret)
  }
  const asked = page.waitForEvent('dialog')
  void page.evaluate('location.reload()').catch(() => undefined)
  const question = await asked
  t.is(question.type(), 'beforeunload')
  await question.dismiss()
  t.is(await page.innerText(shown), secret)
  await takeSecret(tab, 'api_key')
  await page.goBack()
  t.is(new URL(page.url()).pathname, '/settings/webhooks')
  page.on('dialog', (another) => {
    t.fail(another.type())
    void another.accept()
  })
  await page.reload()
})
