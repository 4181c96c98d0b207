/** One trace in Chromium: its message as it looks, also when it was relayed, its header, its public link, and its diagnosis in place. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('a relayed message is shown as it looks, as text and source, with its header', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await server.open({ colorScheme })
    const { page } = tab
    await tab.go(`/traces/${traces.bounced}`)
    await page.frameLocator('iframe.paper').locator('text=Ihre Bestellung ist unterwegs').waitFor()
    t.regex(await page.innerText('.message-bar'), /1 remote image not loaded/)
    t.is(await page.getAttribute('iframe.paper', 'sandbox'), 'allow-popups allow-popups-to-escape-sandbox')
    await tab.check(t)
    await page.click('.message-bar >> text=Text')
    await page.waitForURL(/view=text/)
    t.is((await page.innerText('.paper.text')).trim(), 'Guten Tag')
    await page.click('.message-bar >> text=Source')
    await page.waitForSelector('pre.code >> text=Content-Type: multipart/alternative')
    await tab.check(t)
    await page.click('[role=tab]:has-text("Headers")')
    await page.waitForSelector('.headers >> text=Message-ID')
    await tab.check(t)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('[role=tab]:has-text("Message")').then(() => page.click('text=Save as .eml')),
    ])
    t.is(download.suggestedFilename(), `${traces.bounced}.eml`)
  }
})

test('hops and their delays, and what servers found of the sender, stand over the fields', async (t) => {
  const server = await startDashboard(t, browser)
  const { trace_id: id } = await server.daemon.rest.must('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    subject: 'Hops',
    text: 'x',
    headers: { 'X-Odd': '<img src=x onerror=alert(1)>' },
  })
  const tab = await server.open()
  const { page } = tab
  await page.route('**/v1/traces/*/message', async (route) => {
    const response = await route.fetch()
    const message = (await response.json()) as { headers: object[] }
    const earlier = [
      { name: 'Received', value: 'from a by mx.example.org with ESMTP; Mon, 23 Nov 2026 08:00:42 +0000' },
      { name: 'Received', value: 'from b by relay.example.org with ESMTP; Mon, 23 Nov 2026 08:00:00 +0000' },
      { name: 'Authentication-Results', value: 'mx.example.org; spf=pass smtp.mailfrom=a; dkim=fail (bad signature); dmarc=none' },
    ]
    await route.fulfill({ response, json: { ...message, headers: [...earlier, ...message.headers] } })
  })
  await tab.go(`/traces/${String(id)}?tab=headers`)
  t.deepEqual(await page.locator('.hops li').allInnerTexts(), [
    'relay.example.org\n2026-11-23T08:00:00.000Z',
    'mx.example.org\n2026-11-23T08:00:42.000Z\n+42 s',
  ])
  t.deepEqual(await page.locator('.auth-results li').allInnerTexts(), ['spf=pass', 'dkim=fail', 'dmarc=none'])
  t.regex(await page.innerText('.headers'), /<img src=x onerror=alert\(1\)>/)
  await tab.check(t)
})

test('a trace without a message says why; others are told by the service what they may not', async (t) => {
  const server = await startDashboard(t, browser)
  const refused = await server.daemon.rest.call('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    destination_id: 'dst_none',
    text: 'x',
  })
  const { details } = (refused.body as { error: { details: { trace_id: string } } }).error
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/traces/${details.trace_id}`)
  await page.waitForSelector('text=The request was refused, so no message was kept.')
  t.is(await page.locator('.top >> text=Diagnose').count(), 0)
  await tab.check(t)
  for (const [locale, words] of [
    ['de', 'Es gibt keine Nachricht zu zeigen.'],
    ['fr', 'Il n’y a pas de message à montrer.'],
    ['it', 'Non c’è alcun messaggio da mostrare.'],
  ] as const) {
    const other = await server.open({ locale })
    await other.go(`/traces/${details.trace_id}`)
    await other.page.waitForSelector(`text=${words}`)
    await other.check(t)
  }
})

test('what the public link shows is seen before it is copied', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await server.open({ colorScheme })
    const { page } = tab
    await tab.go(`/traces/${traces.bounced}`)
    await page.keyboard.press('s')
    await page.waitForSelector('dialog .share-preview >> text=o***@e***')
    const preview = await page.innerText('dialog')
    t.notRegex(preview, /office@example\.org|shop@alpenblick|Ihre Bestellung|User unknown/)
    t.true(preview.includes(`${server.url}/share/traces/${traces.bounced}`))
    await tab.check(t)
    const [shared] = await Promise.all([page.waitForEvent('popup'), page.click('dialog >> text=Open the link')])
    await shared.waitForSelector('text=o***@e***')
    await shared.close()
  }
})

test('a diagnosis stands over the timeline; a viewer reads all and is offered no change', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/traces/${traces.sent}`)
  await page.click('.top >> text=Diagnose')
  await page.waitForURL(/diagnose=1/)
  await page.waitForSelector('.diagnosis p b')
  await tab.check(t)
  await tab.go(`/traces/${traces.bounced}?diagnose=1`)
  await page.waitForSelector('.diagnosis ol li')
  t.regex(await page.innerText('.diagnosis'), /recipient unknown/)
  await tab.check(t)
  await page.click('.top >> text=Hide the diagnosis')
  await page.waitForSelector('.diagnosis', { state: 'detached' })
  const vera = await openAs(browser, server, 'viewer')
  await vera.go(`/traces/${traces.bounced}`)
  await vera.page.frameLocator('iframe.paper').locator('text=Ihre Bestellung ist unterwegs').waitFor()
  t.is(await vera.page.locator('main >> text=/Replay|Suppress the address/').count(), 0)
  await vera.page.click('[role=tab]:has-text("Recipients")')
  await vera.check(t)
})
