/** Queue in Chromium: filter, hold with a reason, release, progress, and drop after typing the number. */
import type { ExecutionContext } from 'ava'
import { waitFor } from '../../../support/waits.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard, type DashboardServer, type DashboardTab } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('queue: count, filter, hold, release, and drop by typing the number', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'Olga@Alpenblick.example' })
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  await tab.go('/queue')
  await page.waitForSelector('text=No queued messages')
  const sink = await Sink.listen({ script: { recipient: () => '451 4.7.1 Greylisted' } })
  t.teardown(() => sink[Symbol.asyncDispose]())
  const credentials = { host: '127.0.0.1', port: sink.port, security: 'none' }
  const { id } = await rest.must('POST', '/v1/destinations', { name: 'Relay', provider: 'smtp', credentials })
  await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  for (const to of ['ada@example.org', 'bob@example.org', 'cem@example.net'])
    await rest.must('POST', '/v1/messages', { from: 'shop@alpenblick.example', to, subject: 'Order', text: 'x', destination_id: id })
  const states = async (): Promise<readonly string[]> => {
    const { data } = (await rest.must('GET', '/v1/queue')) as { readonly data: readonly { readonly state: string }[] }
    return data.map(({ state }) => state)
  }
  await waitFor('all messages are deferred', async () => (await states()).join() === 'retry,retry,retry')
  await tab.go('/queue')
  await page.waitForSelector('text=3 messages in the queue.')
  await tab.check(t)
  await tab.fill('Recipient domain', 'example.org')
  await page.click('main >> button:has-text("Filter")')
  await page.waitForURL(/to_domain=example\.org/)
  await page.waitForSelector('text=2 messages in the queue.')

  await page.click('.queue-verbs >> text=Hold…')
  await page.waitForSelector('dialog >> text=Hold 2 messages?')
  await tab.check(t)
  await tab.fill('Reason', 'provider incident')
  await page.click('dialog >> button:has-text("Hold")')
  await page.waitForURL(/\/queue\/history\/qac_/)
  await page.waitForSelector('text=2 messages held.')
  await page.waitForSelector('main >> text=provider incident')
  await tab.check(t)
  t.deepEqual((await states()).toSorted(), ['held', 'held', 'retry'])
  await page.click('text=Show held messages')
  await page.waitForSelector('text=2 messages in the queue, 2 of them held.')
  await page.waitForSelector('tbody >> text=/held by .*provider incident/')
  await page.goBack()
  await page.click('text=Release held messages')
  await page.waitForSelector('text=2 messages released.')
  t.false((await states()).includes('held'))

  await tab.go('/queue?to_domain=example.net')
  await page.click('.queue-verbs >> text=Drop…')
  await page.waitForSelector('dialog >> text=Drop 1 message?')
  t.is(await page.getAttribute('dialog >> button:has-text("Drop")', 'aria-disabled'), 'true')
  await tab.fill('Type 1 to confirm', '1')
  await page.click('dialog >> button:has-text("Drop")')
  await page.waitForSelector('text=1 message dropped.')
  await page.click('text=Show in audit log')
  await page.waitForSelector('main >> text=queue.dropped')
  await tab.go('/queue/history')
  await page.waitForSelector('text=No action is running.')
  await tab.check(t)

  await holdAndLift(t, server, tab, { id: String(id), states })
  await asOperator(t, server, tab, { id: String(id), states })
})

interface Waiting {
  /** Id of the destination. */
  readonly id: string
  readonly states: () => Promise<readonly string[]>
}

/**
 * A standing hold on two messages also holds a third. A viewer sees it. A release includes the held messages, and one creation is undone.
 */
async function holdAndLift(t: ExecutionContext, server: DashboardServer, tab: DashboardTab, { id, states }: Waiting): Promise<void> {
  const { rest } = server.daemon
  const { page } = tab
  await tab.go('/queue?to_domain=example.org')
  await page.click('text=Hold new mail…')
  await page.waitForSelector('dialog >> text=2 messages in the queue now.')
  await tab.check(t)
  await tab.fill('Reason', 'blocked by the receiver')
  await page.click('dialog >> button:has-text("Hold")')
  await page.waitForSelector('.toast >> text=The hold is set.')
  await page.waitForSelector('[aria-label="Standing holds"] >> text=/to example.org · .* blocked by the receiver/')
  const later = { from: 'shop@alpenblick.example', to: 'dan@example.org', subject: 'Order', text: 'x', destination_id: id }
  await rest.must('POST', '/v1/messages', later)
  const heldAre = (n: number) =>
    waitFor(`${n} messages have the state held`, async () => (await states()).filter((state) => state === 'held').length === n)
  await heldAre(3)
  await tab.check(t)

  const viewer = await openAs(browser, server, 'viewer')
  await viewer.go('/queue')
  await viewer.page.waitForSelector('text=3 messages in the queue, 3 of them held.')
  await viewer.page.waitForSelector('text=blocked by the receiver')
  t.is(await viewer.page.locator('text=Hold new mail…').count(), 0)
  t.is(await viewer.page.locator('[aria-label="Standing holds"] button').count(), 0)
  t.is(await viewer.page.locator('.queue-verbs').count(), 0)

  await page.click('[aria-label="Standing holds"] >> button:has-text("Release")')
  await page.waitForSelector('dialog >> text=Release this hold?')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Release")')
  await page.waitForSelector('text=3 messages released.')
  await heldAre(0)
  await tab.go('/queue?to_domain=example.org')
  await page.click('text=Hold new mail…')
  await page.click('dialog >> button[aria-disabled=false]:has-text("Hold")')
  await page.click('.toast button')
  await page.waitForSelector('.toast >> text=Releasing the held messages')
  const { data: holds } = await rest.must('GET', '/v1/queue/holds')
  t.deepEqual(holds, [])
}

/** The operator opens the queue from the state of the service and filters it. Members cannot release the operator's standing hold. */
async function asOperator(t: ExecutionContext, server: DashboardServer, tab: DashboardTab, { states }: Waiting): Promise<void> {
  const { rest } = server.daemon
  const { page } = tab
  await tab.go('/operator')
  await page.click('.areas >> text=Queue')
  await page.waitForSelector('.say >> text=/messages? in the queue/')
  await tab.check(t)
  await page.click('tbody a')
  await page.waitForURL(/\/operator\/queue\?.*organization=org_/)
  await page.waitForSelector('text=3 messages in the queue.')
  await page.waitForSelector('.queue-lanes >> text=Relay')
  t.is(await page.locator('tbody a').count(), 0, 'no link to traces of other organizations')
  await tab.check(t)
  await tab.fill('Recipient domain', 'example.org')
  await page.click('main >> button:has-text("Filter")')
  await page.waitForURL(/to_domain=example\.org/)
  await page.click('text=Hold new mail…')
  await page.waitForSelector('dialog >> text=3 messages in the queue now.')
  await page.waitForSelector('dialog >> text=Queue of Default')
  await tab.fill('Reason', 'abuse report')
  await page.click('dialog >> button:has-text("Hold")')
  await page.waitForSelector('[aria-label="Standing holds"] >> text=/the operator of the service.*abuse report/')
  await waitFor('all messages have the state held', async () => (await states()).every((state) => state === 'held'))
  const { data: holds } = (await rest.must('GET', '/v1/queue/holds')) as { readonly data: readonly { readonly id: string }[] }
  t.is((await rest.call('POST', `/v1/queue/holds/${String(holds[0]?.id)}/release`)).status, 403, 'members cannot release it')
  await page.click('[aria-label="Standing holds"] >> button:has-text("Release")')
  await page.click('dialog >> button:has-text("Release")')
  await page.waitForURL(/\/operator\/queue\/acts\/qac_/)
  await page.waitForSelector('text=3 messages released.')
  await tab.check(t)
  await page.click('text=Show in audit log')
  await page.waitForURL(/\/operator\/organizations\/org_.*tab=audit/)
  await page.waitForSelector('main >> text=queue.released')
  await page.goBack()
  await page.click('.top >> text=History')
  await page.waitForSelector('text=No action is running.')
  await tab.check(t)
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /\/operator\/v1\/organizations\/org_[0-9a-f]+\/queue\/acts/)
}
