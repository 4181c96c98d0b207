/** Findings in Chromium: rows of the overview, the page of findings, and their marks. */
import { observed } from '#core/findings/finding.ts'
import { Looks } from '#core/watch/look.ts'
import { makeDestination } from '../../../support/daemon/provision.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { Sink } from '../../../support/smtp/sink.ts'
import { browserOf, type Page } from '../../../support/web/browser.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { startDashboard, type DashboardServer } from '../dashboard-server.ts'
import { openAs } from '../open-as.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const dayMs = 86_400_000
const unrouted = {
  ...{ project: 'Default', count: 3, captured: 3, refused: 0 },
  ...{ domain: 'bellevue.example', more: 0, destination: 'Infomaniak' },
}

/** Opens four findings and a consequence of one of them. */
async function findings({ daemon }: DashboardServer): Promise<void> {
  const project = String((await daemon.rest.must('GET', '/v1/projects/me'))['project_id'])
  await openFindings(daemon, daemon.organizationId, [
    observed('webhook.failing', 'whk_1', { name: 'Order system', count: 5, by: 'webhook' }, project),
    { ...observed('webhook.parked', 'whk_1', { name: 'Order system', count: 3, more: 'no', status: 500 }, project), severity: 'warning' },
    {
      ...observed('route.missing', project, unrouted, project),
      severity: 'error',
    },
    observed('login.attacked', 'cred_1', { login: 'WordPress', count: 412 }, project),
    observed('quota.nearly_used', 'traces_stored', { limit: 'traces_stored', used: 86, allowed: 100, percent: 86, project: '' }),
  ])
}

test('overview: three rows, the others open in place, and only errors count in the navigation', async (t) => {
  const server = await startDashboard(t, browser)
  await seed(t, server)
  await findings(server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/')
  const titles = (): Promise<string[]> => page.locator('.look li b').allInnerTexts()
  await page.waitForSelector('.look li')
  const shown = await titles()
  t.deepEqual(
    shown.slice(0, 2).map((text) => text.split('\n').at(-1)),
    ['Mail from bellevue.example is captured', "Order system isn't getting events"],
  )
  t.is(shown.length, 3)
  await page.waitForSelector('.nav a:has-text("Routing") >> .count.broken >> text=1')
  await page.waitForSelector('.nav a:has-text("Settings") >> .count.broken >> text=1')
  await tab.check(t)
  await page.click('.look-more button')
  await page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.false(
    (await titles()).some((text) => text.includes('parked')),
    'it follows from the failing endpoint',
  )
  await tab.check(t)
  await page.click('.look a:text-is("See last answer")')
  await page.waitForURL(/\/settings\/webhooks\/whk_1\?/)
})

const letter = { from: 'shop@alpenblick.example', to: 'ada@example.org', subject: 'Your order', text: 'Thank you.' }

/** Captures a message without a rule while one destination is live, and returns a check that opens and ends the finding. */
async function captured({ daemon }: DashboardServer, port: number): Promise<() => Promise<void>> {
  const { rest, organizationId, part } = daemon
  await makeDestination(rest, { name: 'Infomaniak', port, mode: 'live' })
  await rest.must('POST', '/v1/messages', letter)
  const project = String((await rest.must('GET', '/v1/projects/me'))['project_id'])
  const looks = new Looks({ ...part('core'), settle: part('settle'), health: part('healthRegistry'), probe: () => {} })
  return async () => {
    await daemon.settled()
    await looks.look(organizationId, new Set([project]))
  }
}

test('route.missing: one button routes all mail by the only live destination', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  await using sink = await Sink.listen()
  const look = await captured(server, sink.port)
  await look()
  const [all, rule] = ['.look >> button:text-is("Send all mail by Infomaniak")', '.look >> a:text-is("Add rule")']
  const rules = async () => (await rest.must('GET', '/v1/routing/rules'))['data']
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/')
  await page.waitForSelector(all)
  t.is(await page.locator(rule).count(), 0, 'a row of the overview has one button')
  await tab.check(t)
  await page.click(all)
  await page.waitForSelector('.toast >> text=All mail of Default goes through Infomaniak.')
  t.is(await page.locator(all).count(), 0)
  t.like(await rules(), [{ match: { any: true }, priority: 1000 }])
  await page.click('.toast button:text-is("Undo")')
  await page.waitForSelector(all)
  t.deepEqual(await rules(), [])

  await tab.go('/findings')
  await page.waitForSelector(rule)
  await tab.check(t)
  await page.click(all)
  await page.waitForSelector('.toast >> text=All mail of Default goes through Infomaniak.')
  t.like(await rest.must('POST', '/v1/messages', letter), { outcome: 'relayed' })
  await sink.delivered(({ to }) => to.includes('ada@example.org'))
  await look()
  await tab.go('/findings')
  await page.waitForSelector('.state h2:text-is("No open findings")')
})

test('route.missing: viewers have no button, and developers none for a destination of the organization', async (t) => {
  const server = await startDashboard(t, browser)
  const { daemon } = server
  const project = String((await daemon.rest.must('GET', '/v1/projects/me'))['project_id'])
  const open = (scope: 'project' | 'org') =>
    openFindings(daemon, daemon.organizationId, [
      observed('route.missing', project, { ...unrouted, destinationId: 'dst_1', scope }, project),
    ])
  await open('project')
  const [all, rule] = ['.look >> button:text-is("Send all mail by Infomaniak")', '.look >> a:text-is("Add rule")']
  const [viewer, developer] = [await openAs(browser, server, 'viewer'), await openAs(browser, server, 'developer')]
  await viewer.go('/findings')
  await viewer.page.waitForSelector(rule)
  t.is(await viewer.page.locator(all).count(), 0)
  await developer.go('/findings')
  await developer.page.click(all)
  await developer.page.waitForSelector('.toast')
  await developer.page.waitForSelector(`${all} >> visible=true`)
  await openFindings(daemon, daemon.organizationId, [])
  await open('org')
  await developer.go('/findings')
  await developer.page.waitForSelector(rule)
  t.is(await developer.page.locator(all).count(), 0)
  const tab = await server.open()
  await tab.go('/findings')
  await tab.page.waitForSelector(all)
})

/** Titles of the rows, and the top of each row. */
async function rowsOf(page: Page): Promise<readonly (readonly [string | undefined, number | undefined])[]> {
  const rows = await page.locator('.look > li').all()
  return Promise.all(
    rows.map(async (row) => [(await row.locator('b').innerText()).split('\n').at(-1), (await row.boundingBox())?.y] as const),
  )
}

/** Replaces the open findings: one has ended, one is new, and one has another count. */
async function change({ daemon }: DashboardServer): Promise<void> {
  const project = String((await daemon.rest.must('GET', '/v1/projects/me'))['project_id'])
  await openFindings(daemon, daemon.organizationId, [
    observed('quota.used', 'sends_today', { limit: 'sends_today', allowed: 100, project: '' }),
    observed('webhook.failing', 'whk_1', { name: 'Order system', count: 9, by: 'webhook' }, project),
    observed('login.attacked', 'cred_1', { login: 'WordPress', count: 412 }, project),
    observed('quota.nearly_used', 'traces_stored', { limit: 'traces_stored', used: 86, allowed: 100, percent: 86, project: '' }),
  ])
}

for (const path of ['/', '/findings'])
  test(`rows keep their places at ${path}: ended rows stay, new ones are placed on request`, async (t) => {
    const server = await startDashboard(t, browser)
    // the overview of a service without a live destination has no rows
    await makeDestination(server.daemon.rest, { name: 'Infomaniak', port: 2525, mode: 'live' })
    await findings(server)
    const tab = await server.open({ colorScheme: 'both' })
    const { page } = tab
    await page.clock.install()
    await tab.go(path)
    await page.waitForSelector('.look li')
    const before = await rowsOf(page)
    t.true(before.length > 2)
    await change(server)
    await page.clock.fastForward(16_000)
    await page.waitForSelector('.new-pill:text-is("1 new")')
    await page.waitForSelector('.look li:has-text("Mail from bellevue.example is captured") >> text=Ended')
    t.deepEqual(await rowsOf(page), before)
    t.is(await page.locator('.look li:has-text("is reached")').count(), 0)
    await tab.check(t)
    await page.click('.new-pill')
    await page.waitForSelector('.look li:first-child:has-text("is reached")')
    t.is(await page.locator('.look li:has-text("Mail from bellevue.example is captured"), .new-pill').count(), 0)

    await openFindings(server.daemon, server.daemon.organizationId, [])
    await page.clock.fastForward(16_000)
    const shown = (await rowsOf(page)).length
    await page.waitForSelector('.look li:not(:has(dt:text-is("Ended")))', { state: 'detached' })
    t.is((await rowsOf(page)).length, shown)
    await tab.go(path)
    await page.waitForSelector(path === '/' ? '.say >> text=No open findings' : '.state h2:text-is("No open findings")')
    t.is(await page.locator('.look li').count(), 0)
  })

test('findings page: lists causes and remedies; people acknowledge and mute a finding', async (t) => {
  const server = await startDashboard(t, browser)
  await findings(server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await tab.go('/findings')
  await page.waitForSelector('.look li >> text=412 failed sign-ins')
  await page.waitForSelector('.look li:has-text("3 events for Order system are parked")')
  await tab.check(t)
  const row = `.look li:has-text("Order system isn't getting events")`
  await page.click(`${row} >> [aria-label="More"]`)
  await page.click('.menu >> text="Acknowledge"')
  await page.waitForSelector(`${row} >> .tag:has-text("Acknowledged")`)
  await page.click(`${row} >> [aria-label="More"]`)
  t.is(await page.locator('.menu >> text="Acknowledge"').count(), 0)
  await page.click('.menu >> text="Mute for 7 days"')
  await page.waitForSelector(`${row} >> .tag:has-text("Muted until")`)
  await tab.check(t)
  await page.click(`${row} >> [aria-label="More"]`)
  await page.click('.menu >> text="Unmute"')
  await page.waitForSelector(`${row} >> .tag:has-text("Muted until")`, { state: 'detached' })

  await openFindings(server.daemon, server.daemon.organizationId, [])
  await page.click('.areas >> text=Ended')
  await page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.is(await page.locator('[aria-label="More"]').count(), 0)
  await tab.check(t)
  await page.click('.areas >> text=Open')
  await page.waitForSelector('.state h2:text-is("No open findings")')
})

test('findings page: severity and group narrow the list, also for ended findings', async (t) => {
  const server = await startDashboard(t, browser)
  await findings(server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  const rows = page.locator('.look > li')
  await tab.go('/findings')
  await page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.is(await rows.count(), 5)
  await page.click('.pills >> text="Warnings"')
  await page.waitForURL(/severity=warning/)
  await page.waitForSelector(`.look li:has-text("Order system isn't getting events")`, { state: 'detached' })
  await page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.is(await rows.count(), 3)
  await page.selectOption('select[aria-label=Subject]', 'quota')
  await page.waitForURL(/group=quota/)
  await page.waitForSelector('.look li:has-text("3 events for Order system are parked")', { state: 'detached' })
  await page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.is(await rows.count(), 1)
  await tab.check(t)
  await page.click('.pills >> text="Errors"')
  await page.click('.state a:text-is("Clear all")')
  await page.waitForSelector(`.look li:has-text("Order system isn't getting events")`)
  t.notRegex(page.url(), /severity|group/)

  await openFindings(server.daemon, server.daemon.organizationId, [])
  await tab.go('/findings?state=over&severity=error&group=webhooks')
  await page.waitForSelector(`.look li:has-text("Order system isn't getting events")`)
  t.is(await rows.count(), 1)
  await page.click('.areas >> text=Open')
  await page.waitForURL((url) => url.searchParams.get('group') === 'webhooks' && !url.searchParams.has('state'))
  await page.waitForSelector('.state')
  await tab.go('/findings?severity=dire&group=weather')
  await page.waitForSelector('.state h2:text-is("No open findings")')
})

test('findings page: mutes a finding until a chosen time', async (t) => {
  const server = await startDashboard(t, browser)
  await makeDestination(server.daemon.rest, { name: 'Infomaniak', port: 2525, mode: 'live' })
  await findings(server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  const row = `.look li:has-text("Order system isn't getting events")`
  const choose = async (): Promise<void> => {
    await page.click(`${row} >> [aria-label="More"]`)
    await page.click('.menu >> text="Mute until…"')
  }
  const localTime = (ms: number): string => new Date(ms).toISOString().slice(0, 11) + '09:30'
  await tab.go('/findings')
  await choose()
  await tab.fill('Muted until', localTime(Date.now() + 60 * dayMs))
  await page.click('dialog >> button:text-is("Mute")')
  await page.waitForSelector('dialog >> text=within the next 30 days')
  await tab.check(t)
  await tab.fill('Muted until', localTime(Date.now() + 5 * dayMs))
  await page.click('dialog >> button:text-is("Mute")')
  await page.waitForSelector(`${row} >> .tag:has-text("09:30")`)
  const [muted] = (await server.daemon.rest.must('GET', '/v1/findings?group=webhooks&severity=error'))['data'] as {
    readonly muted_until: string
  }[]
  t.regex(muted?.muted_until ?? '', /T0[78]:30:00.000Z$/, 'in the time zone of the browser')
  await choose()
  t.regex(await page.getByLabel('Muted until', { exact: true }).inputValue(), /T09:30$/)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 320, height: 900 })
  await page.click(`${row} >> [aria-label="More"]`)
  t.true(((await page.locator('.menu').boundingBox())?.x ?? -1) >= 0, 'the menu is within a phone')
  await tab.go('/')
  await page.waitForSelector(`${row} >> .tag:has-text("Muted until")`)
  await tab.check(t)
})

test('findings page: viewers read without marks; the role billing reads limits only', async (t) => {
  const server = await startDashboard(t, browser)
  await findings(server)
  const vera = await openAs(browser, server, 'viewer')
  await vera.go('/findings')
  await vera.page.waitForSelector(`.look li:has-text("Order system isn't getting events")`)
  t.is(await vera.page.locator('[aria-label="More"]').count(), 0)
  const bill = await openAs(browser, server, 'billing')
  await bill.go('/findings')
  await bill.page.waitForSelector('.look li:has-text("Stored traces are at 86 % of the limit")')
  t.is(await bill.page.locator('.look li').count(), 1)
  await bill.check(t)
})

test('findings page: translated', async (t) => {
  const server = await startDashboard(t, browser)
  await findings(server)
  for (const [locale, title, step, mute] of [
    ['de', 'Order system erhält keine Ereignisse', 'Letzte Antwort anzeigen', '7 Tage stummschalten'],
    ['fr', 'Order system ne reçoit pas d’événements', 'Voir la dernière réponse', 'Mettre en sourdine pendant 7 jours'],
    ['it', 'Order system non riceve eventi', 'Mostra l’ultima risposta', 'Silenzia per 7 giorni'],
  ] as const) {
    const tab = await server.open({ locale })
    await tab.go('/findings')
    const row = `.look li:has-text("${title}")`
    await tab.page.waitForSelector(`${row} >> a:text-is("${step}")`)
    await tab.page.click(`${row} >> .menu-anchor button`)
    await tab.page.click(`.menu >> text="${mute}"`)
    await tab.page.waitForSelector(`${row} >> .tag`)
    await tab.check(t)
  }
})
