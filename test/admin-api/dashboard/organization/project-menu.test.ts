/** Project switcher in Chromium: keyboard, search, errors, unclaimed sandboxes, and the address after a switch. */
import { observed } from '#core/findings/finding.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { startDashboard } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('project switcher: search by keyboard; keeps the screen and drops filters with ids', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const ids: string[] = []
  for (let i = 1; i <= 8; i++) ids.push(String((await rest.must('POST', '/v1/projects', { name: `Shop ${String(i)}` }))['id']))
  const tab = await server.open()
  const { page } = tab
  await tab.go(`/traces?status=failed&destination_id=dst_${'0'.repeat(32)}`)
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.waitForSelector('.switcher input:focus')
  await page.keyboard.type('shop 3')
  await page.waitForSelector('.switcher a:has-text("Shop 4")', { state: 'detached' })
  await page.keyboard.press('Enter')
  await page.waitForSelector('.project b:text-is("Shop 3")')
  t.is(page.url(), `${server.url}/traces?status=failed&project=${String(ids[2])}`)
  t.is(await page.locator('.switcher').count(), 0)
  await tab.go(`/settings/webhooks/whk_${'0'.repeat(32)}?project=${String(ids[2])}`)
  await page.click('.project')
  await page.keyboard.press('Escape')
  t.is(await page.evaluate('document.activeElement?.className'), 'project', 'Escape returns the focus')
  await page.click('.project')
  await page.click('.switcher a:has-text("All projects")')
  await page.waitForURL(`${server.url}/settings/webhooks`)
})

test('project switcher: sends of today, a mark for errors, and unclaimed sandboxes at the end', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const shop = String((await rest.must('POST', '/v1/projects', { name: 'Shop' }))['id'])
  await rest.must('POST', '/v1/projects', { name: 'Rivet' })
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.route('**/v1/projects?*', async (route) => {
    const { data, ...rest } = (await (await route.fetch()).json()) as { readonly data: readonly { readonly name: string }[] }
    const changed = data.map((one) => ({ ...one, project_sends_today: 7, ...(one.name === 'Rivet' && { status: 'anonymous' }) }))
    await route.fulfill({ json: { ...rest, data: changed } })
  })
  const parked = { name: 'Order system', count: 5, by: 'webhook' } as const
  await openFindings(server.daemon, server.daemon.organizationId, [observed('webhook.failing', 'whk_1', parked, shop)])
  await tab.go('/traces') // the page of / carries its own answers
  await page.click('.project')
  await page.waitForSelector('.switcher a:has-text("Shop") .trouble')
  t.is(await page.locator('.switcher .trouble').count(), 1)
  t.is(await page.locator('.switcher input').count(), 0, 'three projects need no search')
  t.deepEqual(await page.locator('.switcher a:has(.today)').allInnerTexts(), [
    'All projects\n21',
    'Default\n7',
    'Shop\nhas errors\n7',
    'Rivet\n7',
  ])
  t.deepEqual(await page.locator('.switcher h3').allInnerTexts(), ['Projects\nsends today', 'Sandboxes', 'Organizations'])
  await page.keyboard.press('ArrowDown')
  await page.waitForSelector('.switcher a:has-text("Default"):focus')
  await page.keyboard.press('Enter')
  await page.waitForURL(/project=prj_/)
})
