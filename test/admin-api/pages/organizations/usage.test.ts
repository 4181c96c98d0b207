/** The page of usage and invoices: access, content and accessibility. */
import test from '#test'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { join, signedIn, signedInServer } from '../consent-requests.ts'
import { openTab, titleOf } from '../tab.ts'

const testInBrowser = testWith('chromium')
const browser = browserOf(testInBrowser)

test('usage: visible to owners, admins and the billing role only', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { organizationId } = await join(server, 'olga@example.ch', 'owner')
  const path = `/organizations/${organizationId}/usage`
  const seen: Record<string, number[]> = { owner: [(await olga.get(path)).status] }
  for (const role of ['admin', 'developer', 'viewer', 'billing'] as const) {
    const pageClient = await signedIn(server, `${role}@example.ch`)
    await join(server, `${role}@example.ch`, role, organizationId)
    const shown = (await pageClient.get('/organizations')).html.includes(`href="${path}"`)
    seen[role] = [(await pageClient.get(path)).status, (await pageClient.get(`${path}/invoice.csv`)).status, shown ? 1 : 0]
  }
  t.deepEqual(seen, { owner: [200], admin: [200, 200, 1], developer: [404, 404, 0], viewer: [404, 404, 0], billing: [200, 200, 1] })
  const outsider = await signedIn(server, 'eve@example.ch')
  t.is((await outsider.get(path)).html, (await outsider.get('/organizations/org_none/usage')).html)
  t.regex((await olga.get(path)).html, /free plan[^]*Sends today[^]*100[^]*CHF[^]*Total[^]*0\.00/)
  const csv = await olga.get(`${path}/invoice.csv?period=2029-12`)
  t.regex(csv.headers.get('content-disposition') ?? '', /invoice-preview-2029-12\.csv/)
  t.regex(csv.html, /^"axis","label"[^]*\n"total","Total"/)
  for (const period of ['2099-01', 'x', '../..']) t.is((await olga.get(`${path}?period=${encodeURIComponent(period)}`)).status, 400, period)
})

test('usage: the billing role can leave on this page', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const bill = await signedIn(server, 'bill@example.ch')
  await join(server, 'bill@example.ch', 'billing', server.organizationId)
  const path = `/organizations/${server.organizationId}/usage`
  const [, leave = ''] = /action="([^"]+\/leave)"/.exec((await bill.get(path)).html) ?? []
  t.is((await bill.send(path, leave)).location, '/organizations?done=left')
  t.is((await bill.get(path)).status, 404)
})

testInBrowser('the page fits a phone and a desk, with its months', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await openTab(t, browser(), { colorScheme })
    await tab.signIn(await server.operatorLink('olga@example.ch'))
    await tab.open(`${server.url}/organizations`)
    await tab.press('[aria-label="Usage of Default"]')
    await tab.press('text=Previous month')
    await tab.press('text=This month')
    t.is(new URL(tab.page.url()).search, '')
  }
  const german = await openTab(t, browser(), { locale: 'de-CH' })
  await german.signIn(await server.operatorLink('olga@example.ch'))
  await german.open(`${server.url}/organizations/${server.organizationId}/usage`)
  t.is(await titleOf(german), 'Nutzung von Default')
})
