/** Form draft in Chromium with a slow connection: changes during a save. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { startDashboard } from '../dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('form draft: saves changes made during a save, without a conflict', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const { id } = await rest.must('POST', '/v1/forms', { name: 'Support', template: 'support' })
  const tab = await server.open()
  const { page } = tab
  await page.clock.install()
  await tab.go(`/forms/${String(id)}/theme`)
  const begun = Promise.withResolvers<void>()
  const goesOn = Promise.withResolvers<void>()
  await page.route('**/draft', async (route) => {
    if (route.request().method() === 'PUT') begun.resolve()
    await goesOn.promise
    await route.continue()
  })
  const text = page.locator('[aria-label="Text as hex"]')
  await text.fill('#111111')
  await page.clock.runFor(1000)
  await begun.promise
  await text.fill('#222222')
  await page.clock.runFor(1000)
  goesOn.resolve()
  await page.waitForSelector('.form-truth >> text=/^Draft saved/')
  t.like(await rest.must('GET', `/v1/forms/${String(id)}/draft`), { definition: { theme: { colors: { text: '#222222' } } } })
  t.deepEqual(tab.refusals, [])
})
