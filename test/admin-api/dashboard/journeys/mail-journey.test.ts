/** Mail of a new user in Chromium with Postfix as the provider, from the first run to a bounce and its resolution. */
import type { ExecutionContext } from 'ava'
import { waiting } from '../../../support/waits.ts'
import { portOf } from '../../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../../support/daemon/workspace.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { servePolicy } from '../../../peers/policy.ts'
import { Postfix } from '../../../peers/postfix.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'

const test = testWith('chromium', 'postfix')
const browser = browserOf(test)

const shop = 'shop@alpenblick.example'
const [anna, ben, carla] = ['anna@shop.example', 'ben@shop.example', 'carla@shop.example'] as const

interface Provider {
  readonly port: number
  /** Mail that the recipients' servers received. */
  readonly sink: Sink
  /** Recipients that Postfix itself rejects at RCPT. */
  readonly refused: Set<string>
}

/** Starts Postfix. It accepts mail for Anna, and her server rejects it. Postfix then sends a DSN to the bounce address of the service. */
async function startProvider(t: ExecutionContext, { daemon }: DashboardServer): Promise<Provider> {
  const cleanup = new AsyncDisposableStack()
  t.teardown(() => cleanup.disposeAsync())
  const script = { recipient: (to: string) => (to === anna ? `550 5.1.1 <${anna}>: no such user` : undefined) }
  const sink = cleanup.use(await Sink.listen({ script }))
  const refused = new Set<string>()
  const policy = cleanup.use(await servePolicy((to) => (refused.has(to) ? '550 5.7.1 Not now' : 'DUNNO')))
  const { path: folder } = cleanup.use(await temporaryFolder('postfix'))
  const settings = {
    relayhost: `[127.0.0.1]:${String(sink.port)}`,
    transport_maps: `inline:{{bounces.alpenblick.example = smtp:[127.0.0.1]:${String(portOf(daemon.addresses.mx))}}}`,
    smtpd_recipient_restrictions: `check_policy_service inet:127.0.0.1:${String(policy.port)}, permit_mynetworks, reject`,
  }
  const { port } = cleanup.use(await Postfix.start({ folder, settings }))
  return { port, sink, refused }
}

/** From the first screen to a captured message with its trace. */
async function capture(t: ExecutionContext, tab: DashboardTab, { port, sink }: Provider): Promise<void> {
  const { page } = tab
  await page.waitForSelector('text=No mail sent yet.')
  await page.click('.steps a:has-text("New destination")')
  await page.click('.tile:has-text("Other SMTP server")')
  await tab.fill('Name', 'Postfix')
  await tab.fill('Host', '127.0.0.1')
  await tab.fill('Port', String(port))
  await page.getByLabel('Security', { exact: true }).selectOption('none')
  await page.click('button:text-is("Save and check")')
  await page.waitForSelector('h2:text-is("Postfix works.")')
  await page.click('nav >> text=Routing')
  await page.click('header >> text=New rule')
  await tab.fill('Sender', '*')
  await page.getByLabel('Destination', { exact: true }).selectOption({ label: 'Postfix (sandbox)' })
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('tbody >> text=Postfix')
  await page.click('nav >> text=Overview')
  await page.click('.steps >> text=Send a captured test')
  await page.waitForSelector('text=This mail is captured, not sent.')
  await page.click('dialog >> text=Send a captured test')
  await page.waitForSelector('text=Captured, not sent.')
  await page.frameLocator('iframe.paper').locator('text=It works.').waitFor()
  t.regex(await page.innerText('.trace-timeline'), /Postfix[^]*is in sandbox mode/)
  t.deepEqual(sink.deliveries, [])
}

/** Promotes with evidence, then delivers a first message. */
async function goLive(t: ExecutionContext, tab: DashboardTab, { sink }: Provider): Promise<void> {
  const { page } = tab
  await page.click('nav >> text=Overview')
  await page.click('.steps a:has-text("Go live")')
  await page.waitForSelector('h2:text-is("Postfix works.")')
  await page.click('aside >> button:text-is("Go live with Postfix")')
  await page.waitForSelector('.toast >> text=Postfix is live.')
  await page.click('nav >> text=Overview')
  await page.click('header >> text=Send a test')
  await tab.fill('To', ben)
  await page.waitForSelector('text=This mail is sent to the recipient.')
  await page.click('dialog >> text=Send for real')
  await page.waitForSelector('.trace-timeline >> text=Attempt 1: accepted')
  t.regex(await page.innerText('.trace-timeline'), /250 2\.0\.0 Ok: queued as/)
  await waiting(
    'the mail arrives',
    sink.delivered(({ to }) => to.includes(ben)),
  )
  await page.click('nav >> text=Overview')
  await page.waitForSelector('h2:text-is("All mail is going out.")')
}

test('mail journey: first run, live mail, a bounce, its suppression and a replay', async (t) => {
  const server = await startDashboard(t, browser)
  const provider = await startProvider(t, server)
  const tab = await server.open()
  const { page } = tab
  await capture(t, tab, provider)
  await goLive(t, tab, provider)

  /** Sends a message of the shop and opens its trace. */
  const order = async (to: string): Promise<void> => {
    const message = { from: shop, to, subject: 'Your order', text: 'Thank you', verp_enabled: true }
    const { trace_id: id } = await server.daemon.rest.must('POST', '/v1/messages', message)
    await tab.go(`/traces/${String(id)}`)
  }
  await order(anna)
  await page.waitForSelector('.trace-timeline >> text=Reported as bounced')
  t.regex(await page.innerText('.trace-timeline'), /550 5\.1\.1 <anna@shop\.example>: no such user/)
  await page.click('text=Suppress address')
  await page.waitForSelector(`.toast >> text=${anna} is now suppressed`)
  await order(anna)
  await page.waitForSelector('text=Not sent: the recipient is suppressed.')
  await page.click('nav >> text=Recipients')
  await page.click(`[aria-label="Actions for ${anna}"] >> visible=true`)
  await page.click('role=menuitem[name="Remove"]')
  await page.waitForSelector('text=No suppressed addresses')

  provider.refused.add(carla)
  await order(carla)
  await page.waitForSelector('.trace-timeline >> text=Attempt 1: refused')
  t.regex(await page.innerText('.trace-timeline'), /550 5\.7\.1 <carla@shop\.example>: Recipient address rejected: Not now/)
  provider.refused.clear()
  await page.click('header >> text=Replay…')
  await page.waitForSelector('dialog >> text=1 of 1')
  await page.click('dialog >> text=Send again')
  await page.waitForSelector('.toast >> text=The message is queued again.')
  const replayed = await waiting(
    'the replay arrives',
    provider.sink.delivered(({ to }) => to.includes(carla)),
  )
  t.regex(replayed.content.toString(), /Subject: Your order/)
  await page.waitForSelector('.trace-timeline >> text=Attempt 2: accepted')
  await tab.check(t)
  await page.click('nav >> text=Overview')
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
})
