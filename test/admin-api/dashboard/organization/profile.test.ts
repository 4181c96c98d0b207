/** Profile in Chromium for every role: user data, browser settings and the link to the account. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('profile: address, roles, settings, and links to passkeys and sessions', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.click('.nav-account')
  await page.click('.menu >> text=Profile and sign-in')
  await page.waitForURL(/\/settings\/you$/)
  await page.waitForSelector('text=You are olga@alpenblick.example.')
  await page.waitForSelector('.profile-part dd >> text=owner')
  await tab.check(t)
  await page.uncheck('[aria-labelledby=mail-approvals]')
  await page.waitForSelector('.toast >> text=You get no mail when a message waits for approval.')
  await tab.check(t)
  await page.reload()
  await page.waitForSelector('[aria-labelledby=mail-approvals]')
  t.false(await page.isChecked('[aria-labelledby=mail-approvals]'))
  await page.check('[aria-labelledby=mail-approvals]')
  await page.waitForSelector('.toast >> text=You get a mail when a message waits')
  await page.uncheck('[aria-labelledby=mail-alerts]')
  await page.waitForSelector('.toast >> text=You get no alerts by mail.')
  await page.reload()
  await page.waitForSelector('[aria-labelledby=mail-alerts]')
  t.false(await page.isChecked('[aria-labelledby=mail-alerts]'))
  t.true(await page.isChecked('[aria-labelledby=mail-approvals]'))
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /\/v1\/organizations\/org_/)
  await page.waitForSelector('.drawer >> text=plan_tier')
  await page.keyboard.press('Escape')
  await page.click('.sections >> text=Preferences')
  await page.uncheck('main >> text=Single-key shortcuts')
  await page.locator('h1').click()
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  t.true(page.url().endsWith('/settings/preferences'), 'single keys do nothing')
  await page.reload()
  t.false(await page.isChecked('main >> text=Single-key shortcuts'))
  await page.check('main >> text=Single-key shortcuts')
  await page.click('summary:has-text("Shortcut keys")')
  await page.getByLabel('Go to a screen (then a second key)').press('y')
  t.is(await page.getByLabel('Go to a screen (then a second key)').inputValue(), 'y')
  await page.getByLabel('Next entry').press('y')
  await page.waitForSelector('text=This key is already used.')
  await tab.check(t)
  await page.locator('h1').click()
  for (const key of ['g', 't']) await page.keyboard.press(key)
  t.true(page.url().endsWith('/settings/preferences'), 'the old key does nothing')
  for (const key of ['y', 't']) await page.keyboard.press(key)
  await page.waitForURL(/\/traces$/)
  await page.goBack()
  await page.click('summary:has-text("Shortcut keys")')
  await page.click('text="Reset to defaults"')
  await page.click('main .segments >> text=Dark')
  t.is(await page.getAttribute('html', 'data-theme'), 'dark')
  await tab.check(t)
  await page.click('.sections >> text=Profile and sign-in')
  await page.click('main >> text=Name, passkeys and sessions')
  await page.waitForURL(/\/account$/)
})

test('profile: applies the chosen language; also available to billing', async (t) => {
  const server = await startDashboard(t, browser)
  const owner = await server.open()
  const { page } = owner
  for (const [language, preferences, texts] of [
    ['de', 'In diesem Browser', 'Sie sind olga@alpenblick.example.'],
    ['fr', 'Dans ce navigateur', 'Vous êtes olga@alpenblick.example.'],
    ['it', 'In questo browser', 'Il Suo indirizzo è olga@alpenblick.example.'],
  ] as const) {
    await owner.go('/settings/preferences')
    await page.selectOption('main select', language)
    await page.waitForSelector(`text=${preferences}`)
    await owner.check(t)
    await page.click('.sections a[href^="/settings/you"]')
    await page.waitForSelector(`text=${texts}`)
    await owner.check(t)
  }
  await page.click('main >> text=Nome, passkey e sessioni')
  await page.waitForURL(/\/account$/)
  t.is(await page.getAttribute('html', 'lang'), 'it', 'server-rendered pages use it too')
  const billing = await openAs(browser, server, 'billing')
  await billing.go('/settings/you')
  await billing.page.waitForSelector('.profile-part dd >> text=billing')
  await billing.page.waitForSelector('.mails >> text=not available for your role')
  await billing.check(t)
})
