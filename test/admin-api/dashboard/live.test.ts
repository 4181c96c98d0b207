/** Live lists in a browser without polling: a pill announces new entries, and no row moves until it is pressed. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeDestination } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { testWith } from '../../support/peers/peers.ts'
import { browserOf, type Page } from '../../support/web/browser.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const send = ({ daemon }: DashboardServer, subject: string, more: object = {}): Promise<unknown> =>
  daemon.rest.must('POST', '/v1/messages', { from: 'a@alpenblick.example', to: 'new@example.test', subject, text: 'x', ...more })

/** Opens a screen with disabled polling timers and waits for its event stream. */
async function openLive({ page, ready }: DashboardTab, url: string): Promise<Page> {
  await page.addInitScript('window.setInterval = () => 0')
  const streams = page.waitForResponse((response) => response.url().includes('/v1/events'))
  await page.goto(url)
  await ready()
  await streams
  return page
}

test('live lists: the stream announces traces and captures in a pill', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  let page = await openLive(tab, `${server.url}/traces`)
  await page.waitForSelector('text=No mail yet')
  await send(server, 'The first')
  await page.waitForSelector('tbody tr >> text=The first')
  await send(server, 'The second')
  await send(server, 'The third')
  await page.waitForSelector('.new-pill >> text=2 new')
  t.is(await page.locator('tbody tr').count(), 1, 'no row has moved')
  await tab.check(t)
  await page.click('.new-pill')
  await page.waitForSelector('tbody tr >> text=The third')
  await page.waitForSelector('.new-pill', { state: 'detached' })
  page = await openLive(tab, `${server.url}/captures`)
  await page.waitForSelector('.message-list >> text=The third')
  await send(server, 'The fourth')
  await page.waitForSelector('.new-pill >> text=1 new')
  t.is(await page.locator('.message-list >> text=The fourth').count(), 0)
  await tab.check(t)
  await page.click('.new-pill')
  await page.waitForSelector('.message-list >> text=The fourth')
  await page.context().setOffline(true)
  await page.evaluate(`dispatchEvent(new Event('online'))`)
  await page.waitForSelector('text=No response from the service since')
  t.is(await page.locator('.message-list >> text=The fourth').count(), 1, 'existing rows stay')
  await tab.check(t)
  await send(server, 'The fifth')
  await page.context().setOffline(false)
  await page.waitForSelector('.new-pill >> text=1 new')
  await page.waitForSelector('text=No response from the service since', { state: 'detached' })
})

test('live lists: webhook deliveries appear in a pill; sign-out ends the stream', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const receiver = createServer((request, response) => {
    request.resume()
    response.end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => receiver.close())
  await new Promise((done) => receiver.once('listening', done))
  const { port } = receiver.address() as AddressInfo
  const sink = await Sink.listen({ script: { recipient: () => '550 5.1.1 User unknown' } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const live = await makeDestination(rest, { name: 'live', port: sink.port, mode: 'live' })
  const { id } = await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: `http://127.0.0.1:${String(port)}/` })
  const tab = await server.open()
  const page = await openLive(tab, `${server.url}/settings/webhooks/${String(id)}`)
  await page.waitForSelector('.live:not(.off)')
  const bounce = (): Promise<unknown> => send(server, 'Hi', { destination_id: live })
  await bounce()
  await page.waitForSelector('.new-pill >> text=1 new')
  await tab.check(t)
  await page.click('.new-pill')
  await page.waitForSelector('tbody tr')
  const [member] = (await rest.must('GET', '/v1/members'))['data'] as { readonly user_id: string }[]
  await server.daemon.part('people').sessions.revokeOthers(member?.user_id ?? '', '')
  await bounce()
  await page.waitForSelector('.live.off')
})

for (const [path, asks, row] of [
  ['/traces', /\/v1\/traces\?.*since=/, 'tbody tr'],
  ['/captures', /\/v1\/inboxes\/[^/]+\/messages(?:\?|$)/, '.message-list li'],
] as const)
  test(`live lists: a late response adds no new entries: ${path}`, async (t) => {
    const server = await startDashboard(t, browser)
    const tab = await server.open()
    await send(server, 'The first')
    const page = await openLive(tab, server.url + path)
    await page.waitForSelector(`${row} >> text=The first`)
    const [asked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(
      asks,
      async (route) => {
        const response = await route.fetch()
        asked.resolve()
        await goesOn.promise
        await route.fulfill({ response })
      },
      { times: 1 },
    )
    await send(server, 'The second')
    await asked.promise
    await send(server, 'The third')
    await page.click('.new-pill >> text=2 new')
    await page.waitForSelector(`${row} >> text=The third`)
    const answered = page.waitForEvent('requestfinished', (request) => asks.test(request.url()))
    goesOn.resolve()
    await answered
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => 0)')
    t.is(await page.locator('.new-pill').count(), 0, 'nothing is new')
  })
