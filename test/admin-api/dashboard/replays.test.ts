/** Bulk replay in Chromium: count before the start, progress, stop, and refusals. */
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { describeKey } from '#store/tuple.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { browserOf } from '../../support/web/browser.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { testWith } from '../../support/peers/peers.ts'
import { startDashboard, type DashboardServer } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** Sends messages that the server rejects permanently. The server accepts mail afterward. */
async function refusedBefore({ daemon: { rest } }: DashboardServer, addresses: readonly string[]): Promise<Sink> {
  let isRefusing = true
  const sink = await Sink.listen({ script: { recipient: () => (isRefusing ? '550 5.7.1 Not today' : undefined) } })
  const credentials = { host: '127.0.0.1', port: sink.port, security: 'none' }
  const { id } = await rest.must('POST', '/v1/destinations', { name: 'Relay', provider: 'smtp', credentials })
  await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  for (const to of addresses)
    await rest.must('POST', '/v1/messages', {
      from: 'shop@alpenblick.example',
      to,
      subject: `Order for ${to}`,
      text: 'x',
      destination_id: id,
    })
  await waitFor('all have failed', async () => {
    const { matched } = await rest.must('POST', '/v1/replays', { filter: {}, dry_run: true })
    return matched === addresses.length || undefined
  })
  isRefusing = false
  return sink
}

test('replays: count, start by typing the number, follow to the end', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/queue/replays')
  await page.waitForSelector('text=No replays yet')
  await tab.check(t)
  const sink = await refusedBefore(server, ['ada@example.org', 'bob@example.org', 'cem@example.net'])
  t.teardown(() => sink[Symbol.asyncDispose]())
  await page.click('.state >> text=New replay')
  await page.waitForSelector('text=3 failed messages match.')
  await tab.check(t)
  await tab.fill('Recipient', 'nobody@example.org')
  await page.waitForSelector('text=No failed message matches.')
  await tab.check(t)
  await tab.fill('Recipient', 'ada@example.org')
  await page.waitForSelector('text=one failed message matches.')
  await page.waitForURL(/to=ada%40example\.org/)
  await tab.fill('Recipient', '')
  await page.waitForSelector('text=3 failed messages match.')
  await page.getByLabel('Destination', { exact: true }).selectOption({ label: 'Relay' })
  await page.waitForSelector('text=3 failed messages match.')
  await page.click('button:has-text("Replay 3")')
  await tab.check(t)
  t.is(await page.getAttribute('dialog >> button:has-text("Replay now")', 'aria-disabled'), 'true')
  t.is(sink.deliveries.length, 0, 'nothing leaves before the start')
  await tab.fill('Type 3 to confirm', '3')
  await page.click('dialog >> button:has-text("Replay now")')
  await page.waitForURL(/\/queue\/replays\/rpl_/)
  await page.waitForSelector('text=3 messages were replayed.')
  await page.waitForSelector('.facts a:text-is("Relay")')
  await page.waitForSelector('text=No refused messages.')
  await tab.check(t)
  await waitFor('all arrived', () => Promise.resolve(sink.deliveries.length === 3))
  await tab.go('/queue/replays')
  await page.waitForSelector('text=No replay is running.')
  await page.waitForSelector('tbody >> text=finished')
  await tab.check(t)
})

/** Lets a replay count one message, then pauses it. */
function pauseAfterFirst({ kv }: DashboardServer['daemon']) {
  const [paused, pause] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let counted = 0
  kv.beforeWrite = ({ sets }) => {
    const keys = sets.map(({ key }) => describeKey(key))
    const isCounting = ['"replay"', '"send"'].every((kind) => keys.some((key) => key.includes(kind)))
    if (!isCounting || ++counted === 1) return undefined
    paused.resolve()
    return pause.promise
  }
  return { paused: paused.promise, goOn: pause.resolve }
}

test('replays: a stopped replay keeps its results', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const sink = await refusedBefore(server, ['ada@example.org', 'bob@example.org', 'cem@example.net'])
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { paused, goOn } = pauseAfterFirst(server.daemon)
  t.teardown(goOn)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/queue/replays?new=1')
  await page.waitForSelector('text=3 failed messages match.')
  await page.click('button:has-text("Replay 3")')
  await tab.fill('Type 3 to confirm', '3')
  await page.click('dialog >> button:has-text("Replay now")')
  await waiting('the replay has counted one message', paused)
  await page.click('header >> text=Stop')
  await page.waitForSelector('header >> text=Replay the rest')
  await page.waitForSelector('text=Stopped on request.')
  goOn()
  await server.daemon.part('replayRunner').stop()
  const [{ status, counters }] = (await rest.must('GET', '/v1/replays'))['data'] as [{ status: string; counters: { replayed: number } }]
  t.deepEqual([status, counters.replayed], ['stopped', 1])
  await tab.check(t)
})

test('replays: show reasons of refusals; a running replay can be stopped', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const sink = await refusedBefore(server, ['ada@example.org'])
  t.teardown(() => sink[Symbol.asyncDispose]())
  await rest.must('POST', '/v1/suppressions', { email: 'ada@example.org' })
  const [{ id: relay }] = (await rest.must('GET', '/v1/destinations'))['data'] as [{ id: string }]
  const { job_id: id } = await rest.must('POST', '/v1/replays', { filter: { destination_id: relay }, target_destination_id: relay })
  const tab = await server.open({ colorScheme: 'dark' })
  const { page } = tab
  await tab.go(`/queue/replays/${String(id)}`)
  await page.waitForSelector('text=0 messages were replayed.')
  await page.waitForSelector(`.facts a[href*="${relay}"]:text-is("Relay")`)
  await page.waitForSelector('.facts >> text=via Relay')
  await tab.check(t)
  await tab.go('/queue/replays/rpl_00000000000000000000000000000000')
  await page.waitForSelector('text=Couldn’t load the replays.')
  await tab.check(t)
  await page.route('**/v1/replays/*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), status: 'running' } })
  })
  await tab.go(`/queue/replays/${String(id)}?of=4`)
  await page.waitForSelector('header >> text=Stop')
  await tab.check(t)
  await page.click('header >> text=Stop')
  await page.unrouteAll({ behavior: 'wait' })
  await page.waitForSelector('text=Use the same filter')
  await page.click('text=Use the same filter')
  await page.waitForURL(/\/queue\/replays\?.*new=1/)
  await page.waitForSelector('.big-count')
})

test('replays: polling waits for the previous response', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const sink = await refusedBefore(server, ['ada@example.org'])
  t.teardown(() => sink[Symbol.asyncDispose]())
  const { job_id: id } = await rest.must('POST', '/v1/replays', { filter: {} })
  const tab = await server.open()
  const { page } = tab
  await page.clock.install()
  const atWork = { ...(await rest.must('GET', `/v1/replays/${String(id)}`)), status: 'running' }
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [isHeld, times] = [false, 0]
  await page.route('**/v1/replays/*', async (route) => {
    if (!isHeld) return route.fulfill({ json: atWork })
    times += 1
    asked.resolve()
    await answered.promise
    return route.continue()
  })
  await tab.go(`/queue/replays/${String(id)}`)
  await page.waitForSelector('header >> text=Stop')
  isHeld = true
  await page.clock.runFor(1500)
  await asked.promise
  await page.clock.runFor(5000)
  t.is(times, 1)
  answered.resolve()
  await page.waitForSelector('header >> text=Use the same filter')
})

test('replays: a plan without bulk replay shows a note instead of the list', async (t) => {
  const server = await startDashboard(t, browser)
  const { database, organizationId } = server.daemon
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (stored)
    await database.commit(new Change().replace(organizations, organizationId, stored, { ...stored.record, plan: 'free' as const }))
  const tab = await server.open()
  await tab.go('/queue/replays')
  await tab.page.waitForSelector('text=Bulk replay is not available')
  await tab.page.waitForSelector('.note >> text=/not part of the plan free/')
  t.is(await tab.page.locator('main >> text=New replay').count(), 0)
  await tab.check(t)
  await tab.go('/settings/projects')
  await tab.page.click('tbody a')
  await tab.page.waitForSelector('.note >> text=/not part of the plan free/')
  t.is(await tab.page.locator('text=New partition').count(), 0)
  await tab.check(t)
})
