/** Captured mail in Chromium: unread state, release to a live destination, and inbox settings. */
import { makeDestination, makeLogin } from '../../../support/daemon/provision.ts'
import { SmtpClient } from '../../../support/smtp/smtp-client.ts'
import { waitFor } from '../../../support/waits.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('captures: names the recipients before a release to a live destination', async (t) => {
  const server = await startDashboard(t, browser)
  const { sink } = await seed(t, server)
  const { rest } = server.daemon
  await rest.must('POST', '/v1/suppressions', { email: 'blocked@example.test' })
  await rest.must('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: ['first@example.test', 'blocked@example.test'],
    subject: '<img src=x onerror=alert(1)> release me',
    text: 'Hello',
  })
  const tab = await server.open()
  const { page } = tab
  await tab.go('/captures')
  await page.click('.message-list >> text=release me')
  await page.click('.reader-head >> text=Release…')
  await page.waitForSelector('dialog >> text=1 suppressed recipient, skipped: blocked@example.test')
  const asked = await page.innerText('dialog')
  t.true(asked.includes('first@example.test') && asked.includes('Infomaniak'), asked)
  t.false(asked.includes('SES Frankfurt'), 'a sandbox is not a target')
  await tab.check(t)
  const before = sink.deliveries.length
  await page.click('dialog >> text=Send to 2 recipients')
  await page.waitForURL(/\/traces\//)
  await page.waitForSelector('text=Captured message')
  await waitFor('the mail is delivered', async () => (sink.deliveries.length > before ? true : undefined))
  t.deepEqual(sink.deliveries.at(-1)?.to, ['first@example.test'])
  await page.click('text=Captured message')
  await page.waitForSelector('text=Released to a destination')
  await tab.check(t)
  await page.click('text=Open in reader')
  await page.waitForSelector('.reader-head >> text=Released')
  t.is(await page.locator('.reader-head >> text=Release…').count(), 0)
  await tab.check(t)
})

test('captures: reader and trace report parts that could not be decoded', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest, addresses } = server.daemon
  const destination = await makeDestination(rest, { name: 'Box', port: 9, mode: 'sandbox' })
  const client = await SmtpClient.signIn({ port: Number(addresses.submission.split(':').at(-1)) }, await makeLogin(rest, destination))
  const content = [
    ...['From: a@alpenblick.example', 'Subject: Odd', 'Content-Type: multipart/mixed; boundary=b', ''],
    ...[
      '--b',
      'Content-Type: text/plain; charset=x-nothing',
      '',
      'caf\u00e9',
      '--b',
      'Content-Transfer-Encoding: x-unheard-of',
      '',
      'x',
      '',
    ],
  ]
  await client.send({ from: 'a@alpenblick.example', to: ['anna@example.test'], content: Buffer.from(content.join('\r\n'), 'latin1') })
  await client.quit()
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/captures')
  await page.click('.message-list >> text=Odd')
  const charset = '.note.warn li >> text=The charset "x-nothing" is unknown'
  await page.waitForSelector(charset)
  t.is(await page.locator('.note.warn li').count(), 3)
  await tab.check(t)
  const { data } = await rest.must('GET', '/v1/traces')
  await tab.go(`/traces/${String((data as Record<string, unknown>[])[0]?.['trace_id'])}?tab=message`)
  await page.waitForSelector(charset)
  await tab.check(t)
})

test('captures: explains an impossible release; viewers cannot release', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const to = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `${name}@example.test`)
  await rest.must('POST', '/v1/messages', { from: 'a@alpenblick.example', to, subject: `Stays ${'long'.repeat(200)}`, text: 'x' })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/captures')
  await page.click('.message-list >> text=Stays')
  await page.waitForSelector('.reader-head >> text=and 2 more')
  await page.setViewportSize({ width: 812, height: 375 })
  t.true(((await page.locator('.reader-tab').boundingBox())?.height ?? 0) > 200, 'there is room for the message')
  await page.click('.reader-head >> text=Release…')
  await page.waitForSelector('dialog >> text=No live destination')
  await tab.check(t)
  const vera = await openAs(browser, server, 'viewer', { locale: 'de' })
  await vera.go('/captures')
  await vera.page.click('.message-list >> text=Stays')
  await vera.page.waitForSelector('.reader-head h2')
  t.is(await vera.page.locator('.reader-head >> text=Freigeben…').count(), 0)
  await vera.check(t)
})

test('captures: unopened mail is unread, u toggles it; inbox details', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  for (const subject of ['One', 'Two'])
    await rest.must('POST', '/v1/messages', { from: 'a@alpenblick.example', to: 'b@example.test', subject, text: 'x' })
  const tab = await server.open()
  const { page } = tab
  await tab.go('/captures')
  await page.waitForSelector('.message-list a.unread >> nth=1')
  await page.waitForSelector('.inboxes .inbox-count >> text=2 new')
  await tab.check(t)
  await page.click('.message-list >> text=Two')
  await page.waitForSelector('.message-list a:not(.unread) >> text=Two')
  t.is(await page.locator('.message-list a.unread').count(), 1)
  await page.waitForSelector('.inboxes .inbox-count >> text=1 new')
  await page.waitForSelector('nav a[href^="/captures"] .count >> text=/^1$/')
  await page.keyboard.press('u')
  await page.waitForSelector('.message-list a.unread >> text=Two')
  await page.reload()
  await tab.ready()
  await page.keyboard.press('j')
  await page.waitForSelector('.message-list a:not(.unread) >> text=One')
  await page.keyboard.press('u')
  await page.click('.inboxes >> text=Mark all as read')
  await page.waitForSelector('.inboxes .inbox-count >> text=/^2\\b/')
  for (const unread of ['.message-list a.unread', 'nav a[href^="/captures"] .count'])
    await page.waitForSelector(unread, { state: 'detached' })
  await page.click('text=Inbox details')
  await page.waitForSelector('.about-inbox >> text=/wait\\?timeout=60/')
  t.is(await page.getAttribute('.about-inbox button:has-text("Clear inbox")', 'aria-disabled'), 'true')
  await tab.check(t)
})
