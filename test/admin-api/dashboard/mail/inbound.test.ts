/** Inbound mail in Chromium: create and test a route, read and redeliver mail, and revert an unsubscribe. */
import type { ExecutionContext } from 'ava'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { receiverOf, type WebhookReceiver } from '../../../support/web/webhook-receiver.ts'
import { addOptOut } from '../../rest/fixture/stored-rows.ts'
import { inboundDomain, startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { receiveMail } from './receive-mail.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const mail = [
  'From: Ada <ada@peer.example>',
  `To: Tickets <tickets+7@${inboundDomain}>`,
  'Subject: My order is late',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  '',
  '<h1>Where is it?</h1><script>alert(1)</script><img src="https://tracker.example/pixel.png">',
  '--b',
  'Content-Type: text/csv',
  'Content-Disposition: attachment; filename=order.csv',
  '',
  'a,b',
  '--b--',
  '',
].join('\r\n')

test('inbound routes: create, test, read and redeliver mail, delete', async (t) => {
  const receiver = await receiverOf(t)
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  const routeId = await makeRoute(t, tab, receiver)
  await page.click('header >> button:has-text("Send a test mail")')
  await page.waitForSelector('.toast >> text=The webhook accepted the test mail: 204.')
  t.like(JSON.parse(receiver.received[0]?.body ?? ''), { test: true, data: { envelope: { to: [`tickets+test@${inboundDomain}`] } } })
  await page.waitForSelector('text=No mail received yet')
  await tab.check(t)

  await receiveMail(server, routeId, { to: 'tickets+7', content: mail, from: 'ada@peer.example' })
  await receiver.hasReceived(2)
  await page.waitForSelector('tbody >> text=My order is late')
  await page.waitForSelector('tbody >> text=succeeded')
  await tab.check(t)
  await page.fill('#received', 'nowhere')
  await page.press('#received', 'Enter')
  await page.waitForSelector('text=No matches')
  await page.fill('#received', 'LATE')
  await page.press('#received', 'Enter')
  await page.click('tbody >> text=My order is late')
  await readMail(t, tab, receiver)
  await isReadByViewer(t, server, new URL(page.url()).pathname)

  await page.click('h1 >> text=/tickets/')
  await page.click('[role=tab]:has-text("Deliveries")')
  await page.waitForSelector('tbody tr:has-text("My order is late") >> text=succeeded')
  await tab.check(t)
  await changeAndEnd(tab)
  t.is((await server.daemon.rest.call('GET', `/v1/inbound-routes/${routeId}`)).status, 404)
})

/** Creates a route and closes the dialog with its secret. Returns its id. */
async function makeRoute(t: ExecutionContext, tab: DashboardTab, receiver: WebhookReceiver): Promise<string> {
  const { page } = tab
  await tab.go('/incoming/routes')
  await page.waitForSelector('text=No inbound routes yet')
  await tab.check(t)
  await page.click('header >> text=New inbound route')
  await tab.fill('Local part', 'postmaster')
  await tab.fill('Webhook', receiver.url)
  await page.click('dialog >> text="Create"')
  await page.waitForSelector('dialog .wrong >> text=is reserved for the service itself')
  await tab.check(t)
  await tab.fill('Local part', 'Tickets+*')
  await page.click('dialog >> text="Create"')
  t.regex(await page.innerText('[data-secret=hmac_secret]'), /^whsec_/)
  await tab.check(t)
  await storeSecret(tab)
  await page.click(`tbody >> text=tickets+*@${inboundDomain}`)
  await page.waitForURL(/\/incoming\/routes\/inr_\w+/)
  return new URL(page.url()).pathname.split('/').at(-1) ?? ''
}

async function storeSecret({ page }: DashboardTab): Promise<void> {
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  await page.waitForSelector('dialog', { state: 'detached' })
}

/** Reads a message with inert HTML and checked sender, and delivers it to the webhook again. */
async function readMail(t: ExecutionContext, tab: DashboardTab, receiver: WebhookReceiver): Promise<void> {
  const { page } = tab
  const frame = page.frameLocator('iframe.paper')
  await frame.locator('text=Where is it?').waitFor()
  t.is(await frame.locator('script').count(), 0)
  await page.waitForSelector('text=1 remote image not loaded')
  await page.waitForSelector('.reader-head >> text=dmarc=')
  await tab.check(t)
  await page.click('[role=tab]:has-text("Sender checks")')
  await page.waitForSelector('[role=tabpanel] >> text=ada@peer.example')
  await tab.check(t)
  await page.click('[role=tab]:has-text("Attachments")')
  const saved = page.waitForEvent('download')
  await page.click('[role=tabpanel] >> text=Download')
  t.is((await saved).suggestedFilename(), 'order.csv')
  await page.click('[role=tab]:has-text("Delivery")')
  await page.waitForSelector('[role=tabpanel] .tag >> text=204')
  await tab.check(t)
  await page.click('text="Redeliver"')
  await receiver.hasReceived(3)
  t.is(receiver.received[2]?.body, receiver.received[1]?.body)
}

/** A viewer sees everything and has no actions. */
async function isReadByViewer(t: ExecutionContext, server: DashboardServer, path: string): Promise<void> {
  const vera = await openAs(browser, server, 'viewer', { locale: 'de' })
  const route = path.slice(0, path.lastIndexOf('/'))
  for (const one of ['/incoming/routes?new=1', route, path, `${path}?tab=delivery`]) {
    await vera.go(one)
    await vera.page.waitForSelector('main >> text=/tickets|My order is late/')
    const buttons = (await vera.page.locator('main button, main a.button').allInnerTexts()).join(' ')
    t.notRegex(buttons, /Neue |Test-E-Mail|[Ee]rneut|bearbeiten|löschen|Geheimnis/, one)
    t.is(await vera.page.locator('dialog[open]').count(), 0, one)
  }
  await vera.check(t)
  await vera.page.context().close()
}

/** Changes the webhook, rotates the secret, and deletes the route after typing its pattern. */
async function changeAndEnd(tab: DashboardTab): Promise<void> {
  const { page } = tab
  const choose = async (what: string): Promise<void> => {
    await page.click('header >> [aria-label=More]')
    await page.click(`.menu >> text=${what}`)
  }
  await choose('Edit route')
  await tab.fill('Webhook', 'http://127.0.0.1:9/other')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('.toast >> text=The route is saved.')
  await page.waitForSelector('main >> text=http://127.0.0.1:9/other')
  await choose('Rotate secret')
  await page.click('dialog >> button:has-text("Rotate")')
  await page.waitForSelector('[data-secret=hmac_secret]')
  await storeSecret(tab)
  await choose('Delete route')
  await tab.fill('Type tickets+* to confirm', 'tickets+*')
  await page.click('dialog footer >> text=Delete route')
  await page.waitForSelector('text=No inbound routes yet')
}

test('unsubscribes: find by address and list, revert by typing the address', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest, database, organizationId } = server.daemon
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/recipients/unsubscribes')
  await page.waitForSelector('text=No unsubscribes yet')
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  await addOptOut(database, organizationId, project, { list: 'news', email: 'ada@example.org' })
  await addOptOut(database, organizationId, project, { list: 'offers', email: 'bob@example.org' })
  await tab.go('/recipients/unsubscribes')
  await page.waitForSelector('tbody tr >> nth=1')
  await tab.check(t)
  await page.click('tbody >> text=offers')
  await page.waitForURL(/list=offers/)
  await page.waitForSelector('tbody >> text=ada@example.org', { state: 'detached' })
  await page.fill('#find', 'ada')
  await page.press('#find', 'Enter')
  await page.waitForSelector('text=No matches')
  await tab.check(t)
  await page.click('text=Clear all')
  await page.click('[aria-label="Actions for ada@example.org"] >> visible=true')
  await page.click('role=menuitem[name="Subscribe again"]')
  await tab.check(t)
  await tab.fill('Type ada@example.org to confirm', 'ada@example.org')
  await page.click('dialog footer >> button:has-text("Subscribe again")')
  await page.waitForSelector('.toast >> text=ada@example.org gets mail from the list again.')
  await page.waitForSelector('tbody >> text=ada@example.org', { state: 'detached' })
  t.is(((await rest.must('GET', '/v1/unsubscribes'))['data'] as unknown[]).length, 1)
  const vera = await openAs(browser, server, 'viewer', { locale: 'fr' })
  await vera.go('/recipients/unsubscribes')
  await vera.page.waitForSelector('tbody >> text=bob@example.org')
  t.is(await vera.page.locator('.menu-button').count(), 0)
  await vera.check(t)
})
