/** The queue in Chromium: what waits is narrowed, held with a reason and released again, followed to the end, and dropped by its number. */
import { eventually } from '../../../support/deadline.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('what waits is counted and narrowed, held and released, and dropped by its number', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const tab = await server.open()
  const { page } = tab
  await tab.go('/queue')
  await page.waitForSelector('text=Nothing waits')
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
  await eventually(30_000, 'all were put off', async () => (await states()).join() === 'retry,retry,retry' || undefined)
  await tab.go('/queue')
  await page.waitForSelector('text=3 messages in the queue.')
  await tab.check(t)
  await tab.fill('Recipient’s domain', 'example.org')
  await page.click('main >> button:has-text("Filter")')
  await page.waitForURL(/to_domain=example\.org/)
  await page.waitForSelector('text=2 messages in the queue.')

  await page.click('.queue-verbs >> text=Hold…')
  await page.waitForSelector('dialog >> text=Hold 2 messages?')
  await tab.check(t)
  await tab.fill('Reason', 'provider incident')
  await page.click('dialog >> button:has-text("Hold")')
  await page.waitForURL(/\/queue\/acts\/qac_/)
  await page.waitForSelector('text=2 messages held.')
  await page.waitForSelector('main >> text=provider incident')
  await tab.check(t)
  t.deepEqual((await states()).toSorted(), ['held', 'held', 'retry'])
  await page.click('text=What it holds now')
  await page.waitForSelector('text=2 messages in the queue, 2 of them held.')
  await page.waitForSelector('tbody >> text=/held by .*provider incident/')
  await page.goBack()
  await page.click('text=Release what it holds')
  await page.waitForSelector('text=2 messages released.')
  t.false((await states()).includes('held'))

  await tab.go('/queue?to_domain=example.net')
  await page.click('.queue-verbs >> text=Drop…')
  await page.waitForSelector('dialog >> text=Drop 1 message?')
  t.is(await page.getAttribute('dialog >> button:has-text("Drop")', 'aria-disabled'), 'true')
  await tab.fill('Type 1 to confirm', '1')
  await page.click('dialog >> button:has-text("Drop")')
  await page.waitForSelector('text=1 message dropped.')
  await page.click('text=In the audit log')
  await page.waitForSelector('main >> text=queue.dropped')
  await tab.go('/queue/acts')
  await page.waitForSelector('text=No act is running.')
  await tab.check(t)

  const viewer = await openAs(browser, server, 'viewer')
  await viewer.go('/queue')
  await viewer.page.waitForSelector('text=2 messages in the queue.')
  t.is(await viewer.page.locator('.queue-verbs').count(), 0)
})
