/** Alert channels in Chromium: the list, new channels with their test, changes, deletion, and roles. */
import { observed } from '#core/findings/finding.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { receiverOf } from '../../../support/web/webhook-receiver.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { startDashboard } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('alerts: a new channel is tested, changed, turned off and deleted', async (t) => {
  const server = await startDashboard(t, browser)
  const receiver = await receiverOf(t)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/')
  await page.click('.nav >> text=Settings')
  await page.click('.sections >> text=Alerts')
  await page.waitForURL(/\/settings\/alerts$/)
  await page.waitForSelector('tbody tr:first-child:has-text("Owners and admins")')
  await page.keyboard.press('n')
  await tab.fill('Name', 'Operations')
  await tab.fill('URL', receiver.url)
  await page.selectOption('dialog >> label:text-is("Alerts about") + select', 'error')
  await page.click('dialog summary')
  await page.check('dialog >> text=Quiet hours for warnings')
  await page.check('dialog >> text=Reputation')
  await tab.check(t)
  await page.click('dialog >> button:text-is("Create")')
  await page.waitForSelector('.toast >> text=The test alert arrived.')
  t.is(receiver.received.length, 1)
  const row = 'tbody tr:has-text("Operations")'
  await page.waitForSelector(`${row}:has-text("Last test:"):has-text("Errors only")`)
  await tab.check(t)
  await page.click(`${row} a`)
  await page.waitForSelector('dd >> text=/22:00–07:00 Europe/')
  receiver.answer = (response) => response.writeHead(404).end('no such hook')
  await page.click('text="Send test alert"')
  await page.waitForSelector('text=/did not accept the test alert: 404/')
  await page.waitForSelector('aside h2 >> text=/Test failed .*: 404/')
  await tab.check(t)
  await page.click('header >> [aria-label="More"]')
  await page.click('.menu >> text="Edit channel"')
  await tab.fill('Name', 'Night shift')
  await page.click('dialog >> text=Save')
  await page.waitForSelector('h1 >> text=Night shift')
  await page.click('header >> [aria-label="More"]')
  await page.click('.menu >> text="Turn off"')
  await page.waitForSelector('aside h2 >> text=Off')
  await page.click('header >> [aria-label="More"]')
  await page.click('.menu >> text="Delete channel"')
  await tab.fill('Type Night shift to confirm', 'Night shift')
  await page.click('dialog >> button:text-is("Delete channel")')
  await page.waitForURL(/\/settings\/alerts$/)
  await page.waitForSelector('tbody tr')
  t.is(await page.locator('tbody tr').count(), 1)
})

test('alerts: shows a channel that fails, and the secret of a webhook once', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest, organizationId } = server.daemon
  const receiver = await receiverOf(t)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/settings/alerts?new=1')
  await page.selectOption('dialog >> label:text-is("Kind") + select', 'telegram')
  await page.waitForSelector('dialog >> label:text-is("Bot token")')
  await page.selectOption('dialog >> label:text-is("Kind") + select', 'webhook')
  await tab.fill('Name', 'Our system')
  await tab.fill('URL', receiver.url)
  await page.click('dialog >> button:text-is("Create")')
  t.regex(await page.innerText('[data-secret=hmac_secret]'), /\S{20,}/)
  await page.check('dialog >> text=I stored it')
  await page.click('dialog >> text=Done')
  const [, channel] = (await rest.must('GET', '/v1/alert-channels'))['data'] as { readonly id: string }[]
  const failing = observed('alerts.undeliverable', channel?.id ?? '', { channel: 'Our system', reason: 'chat' })
  await openFindings(server.daemon, organizationId, [failing])
  await tab.go('/settings/alerts')
  await page.waitForSelector('tbody tr:has-text("Our system") >> text=/Failing since/')
  await tab.check(t)
})

test('alerts: a banner appears while no channel works', async (t) => {
  const server = await startDashboard(t, browser)
  const { organizationId } = server.daemon
  const banner = '.away >> text=No alerts reach this organization'
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  const shown = page.waitForResponse(/\/v1\/alert-channels/)
  await tab.go('/traces')
  await shown
  t.is(await page.locator(banner).count(), 0)
  await openFindings(server.daemon, organizationId, [observed('alerts.undeliverable', 'members', { channel: 'Members', reason: 'mail' })])
  await tab.go('/traces')
  await page.waitForSelector(banner)
  await tab.check(t)
  await page.click('.away a:text-is("Set alert channels")')
  await page.waitForSelector('tbody tr:has-text("Owners and admins") >> text=/Failing since/')
  await tab.check(t)
  await page.keyboard.press('n')
  const receiver = await receiverOf(t)
  await tab.fill('Name', 'Operations')
  await tab.fill('URL', receiver.url)
  await page.click('dialog >> button:text-is("Create")')
  await page.waitForSelector('.toast >> text=The test alert arrived.')
  await tab.go('/traces')
  await page.waitForResponse(/\/v1\/findings/)
  await page.waitForSelector(banner, { state: 'detached' })
})

test('alerts: list, form and banner are translated', async (t) => {
  const server = await startDashboard(t, browser)
  const { organizationId } = server.daemon
  await openFindings(server.daemon, organizationId, [observed('alerts.undeliverable', 'members', { channel: 'Members', reason: 'mail' })])
  for (const [locale, members, delay, banner] of [
    ['de', 'Inhaber und Administratoren', 'Verzögerung in Minuten', 'Diese Organisation erhält keine Alarme'],
    ['fr', 'Propriétaires et administrateurs', 'Délai en minutes', 'Aucune alerte ne parvient à cette organisation'],
    ['it', 'Proprietari e amministratori', 'Ritardo in minuti', 'Nessun avviso raggiunge questa organizzazione'],
  ] as const) {
    const tab = await server.open({ locale })
    const { page } = tab
    await tab.go('/settings/alerts?new=1')
    await page.waitForSelector(`tbody tr:first-child:has-text("${members}")`)
    await page.waitForSelector(`.away >> text=${banner}`)
    await tab.check(t)
    await page.click('dialog summary')
    await page.waitForSelector(`dialog >> label:text-is("${delay}")`)
    await page.keyboard.press('Escape')
    await tab.check(t)
    await page.click('tbody a')
    await page.waitForSelector('aside h2')
    await tab.check(t)
  }
})

test('alerts: developers change channels of projects only; viewers read', async (t) => {
  const server = await startDashboard(t, browser)
  const dora = await openAs(browser, server, 'developer')
  await dora.go('/settings/alerts')
  await dora.page.waitForSelector('text=Ask an administrator')
  await dora.page.click('tbody a')
  await dora.page.waitForSelector('aside >> text=Ask an administrator')
  t.is(await dora.page.locator('text="Send test alert"').count(), 0)
  await dora.go('/settings/alerts?new=1')
  t.is(await dora.page.locator('dialog option:text-is("All projects")').count(), 0)
  const vera = await openAs(browser, server, 'viewer')
  await vera.go('/settings/alerts?new=1')
  await vera.page.waitForSelector('tbody tr:has-text("Owners and admins")')
  t.is(await vera.page.locator('dialog, header >> text=New channel').count(), 0)
  await vera.check(t)
})
