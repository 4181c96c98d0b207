/** Publishable keys in Chromium: create with gates, copy the snippet, rotate and revoke. */
import { browserOf } from '../../../support/web/browser.ts'
import { waitFor } from '../../../support/waits.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('publishable keys: create with gates, copy the snippet, rotate, revoke', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const secret = async (): Promise<string> => {
    const shown = await page.innerText('[data-secret=publishable_key]')
    await tab.check(t)
    await page.check('dialog >> text=I stored it')
    await page.click('dialog >> text=Done')
    await page.waitForSelector('dialog', { state: 'detached' })
    return shown
  }
  const send = async (key: string, origin: string): Promise<number> => {
    const body = JSON.stringify({ to: 'office@alpenblick.example', subject: 'Contact', text: 'x' })
    const headers = { origin, authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    return (await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body })).status
  }
  await tab.go('/settings/browser-keys')
  await page.waitForSelector('text=No browser keys yet')
  await tab.check(t)
  await page.click('header >> text=New browser key')
  await tab.fill('Name', 'Contact form')
  await tab.fill('Allowed websites', 'nonsense')
  await tab.fill('Recipients', 'office@alpenblick.example')
  await tab.fill('Sender', 'form@alpenblick.example')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('dialog [role=alert]')
  await tab.fill('Allowed websites', 'https://www.alpenblick.example\nhttps://alpenblick.example')
  await page.getByLabel('Rate', { exact: true }).selectOption('strict')
  await page.click('dialog >> button:has-text("Create")')
  await page.waitForSelector('text=Secret of Contact form')
  const first = await secret()
  t.regex(first, /^svcpub_/)
  t.is(await send(first, 'https://www.alpenblick.example'), 200)
  t.is(await send(first, 'https://evil.example'), 403)
  await page.waitForSelector('tbody >> text=3 per hour and visitor, 300 per day')
  await tab.check(t)
  await page.click('[aria-label="Snippet: Contact form"] >> visible=true')
  const snippet = await page.innerText('dialog pre')
  t.regex(snippet, /Bearer YOUR_KEY[^]*"office@alpenblick\.example"/)
  t.false(snippet.includes(first))
  await tab.check(t)
  await page.click('dialog >> text=Close')
  await waitFor('the statistics contain the refused requests', async () => {
    const { data } = await server.daemon.rest.must('GET', '/v1/insights/publishable-keys')
    return (data as { totals: { refused: number } }[])[0]?.totals.refused || undefined
  })
  await page.click('tbody >> text=Contact form')
  await page.waitForSelector('dialog >> text=origin_not_allowed')
  t.regex(await page.innerText('dialog'), /captured 1\s+refused 1/)
  await tab.check(t)
  await page.click('dialog >> text=Close')
  await page.click('[aria-label="Rotate Contact form"] >> visible=true')
  await page.click('dialog >> button:has-text("Rotate")')
  await page.waitForSelector('text=New secret of Contact form')
  const second = await secret()
  t.is(await send(first, 'https://www.alpenblick.example'), 401)
  t.is(await send(second, 'https://www.alpenblick.example'), 200)
  await page.click('[aria-label="Revoke Contact form"] >> visible=true')
  await tab.fill('Type Contact form to confirm', 'Contact form')
  await page.click('dialog >> button:has-text("Revoke")')
  await page.waitForSelector('.toast >> text=Contact form is revoked.')
  t.is(await send(second, 'https://www.alpenblick.example'), 401)
})
