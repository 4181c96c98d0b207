/** Failures while going live in Chromium: each step names the cause and offers the next action. */
import type { ExecutionContext } from 'ava'
import { programPort } from '../../../support/network/program-port.ts'
import { testWith } from '../../../support/peers/peers.ts'
import type { SinkOptions } from '../../../support/smtp/sink-script.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { FakeNames } from '../../rest/fixture/fake-providers.ts'
import { authority, otherCertificate } from '../../../protocols/relay/certificates.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

interface Started {
  readonly server: DashboardServer
  readonly tab: DashboardTab
  readonly id: string
  /** Opens the flow, and waits for its heading. */
  readonly shows: (heading: string) => Promise<void>
}

/** Creates a destination in the sandbox. */
async function started(
  t: ExecutionContext,
  port: number,
  settings: object = {},
  credentials: object = {},
  replacements: Parameters<typeof startDashboard>[3] = {},
): Promise<Started> {
  const server = await startDashboard(t, browser, {}, replacements)
  const { id } = await server.daemon.rest.must('POST', '/v1/destinations', {
    ...{ name: 'Local sink', provider: 'smtp', ...settings },
    credentials: { host: '127.0.0.1', port, security: 'none', ...credentials },
  })
  const tab = await server.open()
  const shows = async (heading: string): Promise<void> => void (await tab.page.waitForSelector(`h2:text-is("${heading}")`))
  return { server, tab, id: String(id), shows }
}

async function sinkOf(t: ExecutionContext, options: SinkOptions = {}): Promise<Sink> {
  const sink = await Sink.listen(options)
  t.teardown(() => sink[Symbol.asyncDispose]())
  return sink
}

test('provider: a preset for loopback names the setting that it needs', async (t) => {
  const tab = await (await startDashboard(t, browser, { POSTERN_OUTBOUND_ALLOW: '' })).open()
  await tab.go('/destinations/new')
  await tab.page.getByLabel(/^Find one of/).fill('mailpit')
  const tile = await tab.page.innerText('.tile.off')
  t.regex(tile, /Not allowed on this service. To use it, start Postern with POSTERN_OUTBOUND_ALLOW=destinations=127\.0\.0\.1:1025/)
  await tab.check(t)
})

test('login: a refused login shows the reply, and the form keeps its values', async (t) => {
  const sink = await sinkOf(t, { users: { shop: 'right' } })
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page, fill } = tab
  await tab.go('/destinations/new/smtp')
  await fill('Host', '127.0.0.1')
  await fill('Port', String(sink.port))
  await page.getByLabel('Security', { exact: true }).selectOption('none')
  await fill('User name', 'shop')
  await fill('Password', 'wrong')
  await page.click('button:text-is("Save and check")')
  await page.waitForSelector('h2:text-is("Other SMTP server refused this login.")')
  t.regex(await page.innerText('.wire-line'), /^535 /)
  t.is(await page.getByLabel('User name', { exact: true }).inputValue(), 'shop')
  await tab.check(t)
  await fill('Password', 'right')
  await page.click('button:text-is("Save and check")')
  await page.waitForSelector('h2:text-is("Other SMTP server works.")')
})

test('check: a server without an answer; another port is one click away', async (t) => {
  const port = await programPort()
  const { server, tab, id, shows } = await started(t, port)
  await tab.go(`/destinations/${id}/go-live`)
  await shows(`127.0.0.1 doesn’t answer on port ${String(port)}.`)
  await tab.check(t)
  await tab.page.click('button:text-is("Try 465")')
  await shows('127.0.0.1 doesn’t answer on port 465.')
  t.like(await server.daemon.rest.must('GET', `/v1/destinations/${id}`), { credentials: { port: 465, security: 'tls' } })
})

/** Both names of the test are at 127.0.0.1. */
class LocalNames extends FakeNames {
  override async resolve4(): Promise<readonly string[]> {
    return ['127.0.0.1']
  }
}

test('check: a certificate for another host; its name is one click away', async (t) => {
  const sink = await sinkOf(t, { security: 'starttls', certificate: otherCertificate })
  const replacements = { resolver: new LocalNames(), trusted: [authority] }
  const login = { host: 'mail.test', security: 'starttls' }
  const { server, tab, id, shows } = await started(t, sink.port, {}, login, replacements)
  await tab.go(`/destinations/${id}/go-live`)
  await shows('The certificate is for other.test, not for mail.test.')
  await tab.check(t)
  await tab.page.click('button:text-is("Use other.test")')
  await shows('Local sink works.')
  t.like(await server.daemon.rest.must('GET', `/v1/destinations/${id}`), { credentials: { host: 'other.test' } })
})

test('check: a domain without records; going live stays possible', async (t) => {
  const sink = await sinkOf(t)
  const { server, tab, id, shows } = await started(t, sink.port, { from: 'shop@alpenblick.example' })
  await server.daemon.rest.must('POST', '/v1/domains', { domain: 'alpenblick.example' })
  await tab.go(`/destinations/${id}/go-live`)
  await tab.page.waitForSelector('h2:has-text("Mail will arrive, but often in spam: alpenblick.example has no")')
  await tab.check(t)
  await tab.page.click('button:text-is("Go live anyway")')
  await shows('Send your first mail.')
})

test('check: a test message is late after a minute, and going live does not wait', async (t) => {
  const sink = await sinkOf(t)
  const { tab, id, shows } = await started(t, sink.port)
  await tab.page.clock.install()
  await tab.go(`/destinations/${id}/go-live`)
  await tab.page.waitForSelector('.checks >> text=The test message was sent.')
  await tab.page.clock.fastForward(61_000)
  await tab.page.waitForSelector('.checks >> text=The test message is still on its way.')
  await shows('Local sink works.')
  await tab.page.click('button:text-is("Go live with Local sink")')
  await shows('Send your first mail.')
  await tab.check(t)
})

test('go live: a viewer sees who can', async (t) => {
  const sink = await sinkOf(t)
  const { server, id } = await started(t, sink.port)
  const viewer = await openAs(browser, server, 'viewer')
  await viewer.go(`/destinations/${id}/go-live`)
  await viewer.page.waitForSelector('h3:text-is("Only developers and administrators can go live.")')
  await viewer.page.waitForSelector('text=Ask olga@alpenblick.example.')
  await viewer.check(t)
})

test('first mail: a refusal shows the reply and the diagnosis', async (t) => {
  const sink = await sinkOf(t, { script: { recipient: (to) => (to.startsWith('olga@') ? '550 5.1.1 no such user' : undefined) } })
  const { tab, id, shows } = await started(t, sink.port)
  await tab.go(`/destinations/${id}/go-live`)
  await tab.page.click('button:text-is("Go live with Local sink")')
  await tab.page.click('button:text-is("Send a test to olga@alpenblick.example")')
  await shows('Local sink refused the first mail.')
  await tab.page.waitForSelector('.trace-timeline >> text=550 5.1.1 no such user')
  await tab.check(t)
})
