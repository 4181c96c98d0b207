/** The screen of organizations in Chromium: a team made, renamed, left and deleted; the cap of the plan; and what roles are not offered. */
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { startDashboard } from '../dashboard-server.ts'
import { join, openAs } from '../open-as.ts'

const test = testWith('chromium')
const browser = browserOf(test)
const hostile = '<img src=x onerror=alert(1)>\u202etxt'

test('a team is made with its key, is in the switcher, is renamed and taken back, and deleted by its name', async (t) => {
  const server = await startDashboard(t, browser)
  for (const colorScheme of ['light', 'dark'] as const) {
    const tab = await server.open({ colorScheme })
    const { page } = tab
    await page.click('nav >> text=Organizations')
    await page.waitForSelector('text=You are in one organization.')
    await page.waitForSelector('text=No team yet.')
    await page.waitForSelector('text=0; the plan has no limit.')
    await tab.check(t)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('create a team')
    await page.click('[role=option] >> text=Create a team organization')
    await page.waitForURL(/new=1/)
    await tab.fill('Name', 'Bakery')
    await tab.check(t)
    await page.click('dialog >> text=Create')
    await page.waitForSelector('text=The first key of Bakery')
    t.regex(await page.innerText('[data-secret=api_key]'), /^svckey_/)
    await tab.check(t)
    await page.check('dialog >> text=I stored it')
    await page.click('dialog >> text=Done')
    await page.waitForSelector('text=You are in 2 organizations.')
    t.is(await page.locator('tbody tr:has-text("Bakery")').count(), 2, 'among the own ones, and among the teams')
    await tab.check(t)
    await page.click('[aria-label="Rename Bakery"] >> visible=true >> nth=0')
    await tab.fill('Name', hostile)
    await tab.check(t)
    await page.click('dialog >> button:has-text("Rename")')
    await page.waitForSelector('.toast >> text=/is called .*U\\+202E/')
    await tab.check(t)
    await page.click('.toast button')
    await page.waitForSelector('tbody >> text=Bakery')
    await page.click('.project')
    await page.click('.menu >> text=Bakery')
    await page.waitForURL(/org=org_/)
    await page.click('nav >> text=Organizations')
    await page.waitForSelector('text=A team has no teams of its own.')
    t.is(await page.getAttribute('.top .primary', 'aria-disabled'), 'true')
    await tab.check(t)
    await page.click('[aria-label="Leave Bakery"] >> visible=true')
    await tab.fill('Type Bakery to confirm', 'Bakery')
    await page.click('dialog >> button:has-text("Leave")')
    await page.waitForSelector('dialog [role=alert] >> text=needs an owner')
    await tab.check(t)
    await page.click('dialog >> text=Cancel')
    await page.click('[aria-label="Delete Bakery"] >> visible=true')
    await page.waitForSelector('text=Members who lose it: 1')
    t.is(await page.getAttribute('dialog .danger', 'aria-disabled'), 'true')
    await tab.fill('Type Bakery to confirm', 'Bakery')
    await tab.check(t)
    await page.click('dialog >> button:has-text("Delete the organization")')
    await page.waitForSelector('.toast >> text=Bakery is deleted.')
    await page.waitForSelector('text=You are in one organization.')
    await page.click('[title="This screen as an API call"]')
    t.regex(await page.innerText('.drawer'), /\/v1\/organizations/)
    await page.context().close()
  }
  const { data } = await server.daemon.rest.must('GET', '/v1/organizations')
  t.is((data as object[]).length, 1)
})

test('the cap of the plan is shown before it refuses; the first organization cannot be deleted', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_PLAN: 'basic' })
  const tab = await server.open({ locale: 'de' })
  const { page } = tab
  await server.daemon.rest.must('POST', '/v1/organizations', { name: hostile })
  await tab.go('/orgs')
  await page.waitForSelector('text=1 von 1, die der Plan erlaubt. Der Plan erlaubt kein weiteres Team.')
  t.is(await page.getAttribute('.top .primary', 'aria-disabled'), 'true')
  await page.click('.top .primary', { force: true })
  t.is(await page.locator('dialog').count(), 0)
  await tab.go('/orgs?new=1')
  await page.waitForSelector('text=1 von 1')
  t.is(await page.locator('dialog').count(), 0)
  await tab.check(t)
  const [{ name }] = (await server.daemon.rest.must('GET', '/v1/organizations'))['data'] as [{ name: string }]
  await page.click(`[aria-label="${name} löschen"] >> visible=true`)
  await tab.fill(`Zum Bestätigen ${name} eingeben`, name)
  await page.click('dialog >> button:has-text("Organisation löschen")')
  await page.waitForSelector('dialog [role=alert] >> text=belongs to the service itself')
  await tab.check(t)
})

test('a viewer sees and leaves, and changes nothing; who pays the bill sees the plan and no teams', async (t) => {
  const server = await startDashboard(t, browser)
  await server.open()
  await server.daemon.rest.must('POST', '/v1/organizations', { name: 'Bakery' })
  const viewer = await join(browser, server, 'viewer')
  for (const [locale, words] of [
    ['fr', 'Vous êtes dans une organisation.'],
    ['it', 'Sei in una organizzazione.'],
  ] as const) {
    const tab = await server.open({ locale, link: await server.signInLink(viewer) })
    const { page } = tab
    await tab.go('/orgs?new=1')
    await page.waitForSelector(`text=${words}`)
    await page.waitForSelector('tbody >> text=Bakery')
    t.is(await page.locator('.top .primary, main .danger, main [aria-label*="Bakery"], dialog').count(), 0)
    await tab.check(t)
    await page.click('main .row-buttons a >> visible=true')
    await page.waitForURL(/\/organizations\/org_[0-9a-f]+\/members/)
    await page.context().close()
  }
  const developer = await openAs(browser, server, 'developer')
  await developer.go('/orgs')
  await developer.page.click('[aria-label^="Leave "] >> visible=true')
  await developer.page.getByRole('textbox').fill(await developer.page.innerText('tbody tr >> nth=0 >> bdi'))
  await developer.check(t)
  await developer.page.click('dialog footer .danger')
  await developer.page.waitForSelector('text=You belong to no organization yet')
  await developer.check(t)
  const { data } = await server.daemon.rest.must('GET', '/v1/members')
  t.deepEqual(
    (data as { role: string }[]).map(({ role }) => role).toSorted((a, b) => a.localeCompare(b)),
    ['owner', 'viewer'],
  )
  const billing = await openAs(browser, server, 'billing')
  await billing.go('/orgs?new=1')
  await billing.page.waitForSelector('text=You are in one organization.')
  await billing.page.waitForSelector('tbody tr >> text=billing')
  t.is(await billing.page.locator('.top .primary, main .danger, dialog, #teams').count(), 0)
  await billing.check(t)
})

test('a list that fails says so, beside the other one', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await page.route('**/v1/members*', (route) => route.fulfill({ status: 500, body: '{}', contentType: 'application/json' }))
  await tab.go('/orgs')
  await page.waitForSelector('text=The organizations could not be read')
  await page.waitForSelector('text=No team yet.')
  await tab.check(t)
  await page.unroute('**/v1/members*')
  await page.route('**/v1/organizations*', (route) => route.abort())
  await tab.go('/orgs')
  await page.waitForSelector('text=The team organizations could not be read')
  await page.waitForSelector('text=You are in one organization.')
  await tab.check(t)
})
