/** Routing trials in Chromium: the address stores a trial, and the result lists messages with another route. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { seed } from '../seed.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('routing trials: apply a rule and a send budget to stored messages', async (t) => {
  const server = await startDashboard(t, browser)
  const { live, sandbox } = await seed(t, server)
  await server.daemon.rest.must('POST', '/v1/messages', {
    from: 'shop@alpenblick.example',
    to: 'hallo@example.test',
    subject: '<img src=x onerror=alert(1)> no route',
    text: 'x',
  })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/routing')
  await page.click('[role=tab]:has-text("What if")')
  await page.waitForURL(/view=what-if/)
  await tab.check(t)
  await page.click('button:has-text("Run")')
  await page.waitForSelector('h2:focus >> text=8 messages checked')
  await page.waitForSelector('text=No message has a different outcome.')
  await tab.check(t)
  await page.getByLabel('New rule for sender').fill('alpenblick.example')
  await page.getByLabel('Target of the new rule').selectOption(sandbox)
  await page.getByLabel('Send limit per day').fill('3')
  await page.click('button:has-text("Run")')
  await page.waitForURL((url) => url.searchParams.get('goes') === sandbox)
  await page.waitForSelector('text=5 refused')
  t.regex(await page.innerText('.rows.always'), /The project has used its send budget for today/)
  await tab.check(t)
  await page.getByLabel('Capture limit per month').fill('0')
  await page.getByLabel('No-route policy').selectOption('reject')
  await page.getByLabel('Plan', { exact: true }).selectOption('pro')
  await page.getByLabel('Destination', { exact: true }).selectOption(sandbox)
  await page.getByLabel('Fallback 1').selectOption(live)
  await tab.check(t)
  await page.click('button:has-text("Run")')
  await page.waitForURL((url) => url.searchParams.get('fallbacks') === live && url.searchParams.get('plan') === 'pro')
  await page.waitForSelector('.rows.always >> text=The project has reached its capture limit for this month >> nth=3')
  await tab.check(t)
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /"fallback_ids"[^]*"breaker_open"/)
  t.regex(await page.innerText('.drawer'), /\/v1\/routing\/what-if[^]*"send_budget": 3/)
  const vera = await openAs(browser, server, 'viewer', { locale: 'fr' })
  await vera.go(`/routing?view=what-if&match=bad@@match&goes=${sandbox}&days=7`)
  await vera.page.waitForSelector('[role=alert] >> text=Impossible de lancer la simulation')
  await vera.check(t)
})
