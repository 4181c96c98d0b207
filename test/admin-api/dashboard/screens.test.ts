/** Dashboard screens in Chromium: content and shortcuts, without policy violations or axe-core findings. */
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder, type Manifest } from '../../../admin-api/dashboard/built-files.ts'
import { becomesTrue, browserOf } from '../../support/web/browser.ts'
import { testWith } from '../../support/peers/peers.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination } from '../../support/daemon/provision.ts'
import { startDashboard } from './dashboard-server.ts'
import { seed } from './seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** DNS results after all records are published. */
const verifiedDomain = {
  ...{ id: 'dom_1', domain: 'alpenblick.example', status: 'verified', checked_at: '2026-11-23T08:00:00.000Z', dkim_keys: [] },
  records: [
    {
      purpose: 'dkim',
      type: 'TXT',
      name: 's._domainkey',
      expected: 'x',
      required: true,
      found: ['x'],
      verdict: 'ok',
      hint: '',
      spf_lookups: null,
    },
  ],
  health: {
    ...{ state: 'ok', since: null, last_success_at: '2026-11-23T08:00:00.000Z' },
    ...{ failures_in_a_row: null, last_reply: null, findings: [] },
  },
  ...{ created_at: '2026-11-23T08:00:00.000Z', updated_at: '2026-11-23T08:00:00.000Z' },
}

test('screens: from the first run to a captured trace, in all languages', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await page.waitForSelector('text=No mail sent yet.')
  t.is(await page.locator('.project-state').count(), 0, 'claimed projects need no text')
  await page.click('aside .segments >> text=MCP')
  t.regex(await page.innerText('aside pre'), /"mcpServers"[^]*\/mcp"/)
  await tab.check(t)
  await page.route('**/v1/domains?*', (route) => route.fulfill({ json: { data: [verifiedDomain], next_cursor: null } }))
  await page.route('**/v1/projects?*', async (route) => {
    const { data, ...rest } = (await (await route.fetch()).json()) as { readonly data: readonly object[] }
    await route.fulfill({ json: { ...rest, data: data.map((project) => ({ ...project, status: 'anonymous' })) } })
  })
  await tab.go('/traces') // the page of / carries its own answers
  await page.click('nav >> text=Overview')
  await page.waitForSelector('.steps li:nth-child(2) >> text=All records of alpenblick.example are published.')
  t.is(await page.locator('.steps .arch.done').count(), 1)
  await page.waitForSelector('.project-state >> text=anonymous')
  t.regex(await page.innerText('.project-state'), /Mail from an unclaimed project is captured\. Claim project/)
  await tab.check(t)
  await page.unrouteAll({ behavior: 'wait' })
  await tab.go('/')
  await page.click('text=Send a captured test')
  await page.waitForSelector('text=This mail is captured, not sent.')
  await page.click('dialog >> text=Send a captured test')
  await page.waitForSelector('text=Captured, not sent.')
  t.regex(
    await page.innerText('.trace-timeline'),
    /The project is claimed[^]*No rule matches, and there is no default sender[^]*policy is to capture such mail/,
  )
  const trace = new URL(page.url()).pathname
  await page.frameLocator('iframe.paper').locator('text=It works.').waitFor()
  await tab.check(t)
  for (const [language, texts, noRoute] of [
    ['de', 'Noch ist keine Mail hinausgegangen.', 'die Richtlinie des Projekts fängt solche E-Mails ab'],
    ['fr', 'Aucun message n’est encore parti.', 'la politique du projet est de capturer ces e-mails'],
    ['it', 'Non è ancora partito alcun messaggio.', 'il progetto è impostato per catturare questa posta'],
  ] as const) {
    const other = await server.open({ locale: language, colorScheme: 'dark' })
    await other.page.waitForSelector(`text=${texts}`)
    t.is(await other.page.getAttribute('html', 'lang'), language)
    await other.check(t)
    await other.go(trace)
    await other.page.waitForSelector(`.trace-timeline >> text=${noRoute}`)
    t.is(await other.page.locator('.trace-timeline [lang=en]').count(), 0, 'all reasons are translated')
  }
})

test('screens: overview, trace list and trace; the address stores filters', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces, live } = await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  await tab.check(t)
  await page.click('nav >> text=Traces')
  await page.waitForSelector('tbody tr >> nth=6')
  await tab.check(t)
  await page.click('.pills >> text=bounced')
  await page.waitForURL(/has=bounce/)
  await page.waitForSelector('tbody tr >> text=office@example.org')
  await page.fill('.query-bar input', 'to:kontakt@example.org dest:infomaniak nonsense:1')
  await page.press('.query-bar input', 'Enter')
  await page.waitForURL((url) => url.searchParams.get('destination_id') === live)
  await page.waitForSelector('text=No matches')
  await page.waitForSelector('text=Unknown filter: nonsense')
  await tab.check(t)
  await page.click('.state a:has-text("has:bounce")')
  await page.waitForSelector('tbody tr >> text=kontakt@example.org')
  await page.click('[aria-label="Remove filter to"]')
  await page.waitForSelector('tbody tr >> text=office@example.org')
  await page.focus('tbody tr')
  await page.keyboard.press('Control+Enter')
  await page.waitForURL(/\/traces\/[0-9a-f-]+/)
  const first = page.url()
  await page.keyboard.press(']')
  await page.waitForURL((url) => url.pathname !== new URL(first).pathname)
  await page.keyboard.press('[')
  await page.waitForURL((url) => url.pathname === new URL(first).pathname)
  const pressing = `(async () => {
    const places = []
    for (const key of [']', '[']) {
      document.dispatchEvent(new KeyboardEvent('keydown', { key }))
      await Promise.resolve()
      places.push(location.href)
    }
    return places
  })()`
  const walked = await page.evaluate<readonly string[]>(pressing)
  t.is(walked[1], first, `a key pressed before the next paint acts on the displayed row: ${walked.join(' ')}`)
  t.not(walked[0], first)
  await page.keyboard.press('Escape')
  await page.waitForURL((url) => url.pathname === '/traces' && url.searchParams.get('destination_id') === live)
  await tab.go(`/traces/${traces.bounced}`)
  await page.waitForSelector('text=Reported as bounced')
  t.regex(
    await page.innerText('.trace-timeline'),
    /550 5\.1\.1 <office@example\.org>: Recipient address rejected: User unknown in virtual mailbox table/,
  )
  t.regex(await page.innerText('.trace-timeline'), /Attempt 1: accepted/)
  await tab.check(t)
  await tab.go(`/traces/${traces.deferred}`)
  t.regex(await page.innerText('.trace-timeline'), /451 4\.7\.1 Recipient address rejected: Greylisted, come back in 00:01:00/)
  await tab.go(`/traces/${traces.captured}`)
  await page.frameLocator('iframe.paper').locator('text=Ihre Bestellung ist unterwegs').waitFor()
  await tab.check(t)
})

test('trace list, keyboard: navigate; add a suppression from a trace and undo', async (t) => {
  const server = await startDashboard(t, browser)
  const { traces } = await seed(t, server)
  const tab = await server.open()
  const { page } = tab
  await page.waitForSelector('.say h2:text-is("All mail is going out.")')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await page.waitForSelector('tbody tr')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.panel .trace-timeline')
  t.regex(await page.innerText('.panel'), /office@example\.org/)
  await tab.check(t)
  await page.keyboard.press('j')
  await page.waitForSelector('.panel >> text=qa+reset@example.test')
  await page.keyboard.press('Escape')
  await page.waitForSelector('.panel', { state: 'detached' })
  await page.focus('tbody tr:has-text("gone@example.org")')
  await page.keyboard.press('x')
  await page.keyboard.press('k')
  await page.keyboard.press('x')
  await page.waitForSelector('.selection-bar >> text=2 selected')
  await tab.check(t)
  const saved = page.waitForEvent('download')
  await page.keyboard.press('e')
  t.is(
    readFileSync(await (await saved).path(), 'utf8')
      .trim()
      .split('\n').length,
    3,
    'the header and the selected rows',
  )
  await page.setViewportSize({ width: 390, height: 844 })
  await page.waitForSelector('.rows .narrow-box input:checked >> nth=1')
  await tab.check(t)
  await page.click('.selection-bar >> text=Send 1 again')
  await page.waitForSelector('dialog >> text=Send 1 message again?')
  await page.click('dialog >> button:has-text("Send again")')
  await page.waitForSelector('.toast >> text=1 queued again.')
  await page.waitForSelector('.selection-bar', { state: 'detached' })
  await waitFor('the message was sent once more', async () =>
    Number((await server.daemon.rest.must('GET', `/v1/traces/${traces.failed}`))['attempts']) > 1 ? true : undefined,
  )
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('48213')
  await page.waitForSelector('[role=option] >> text=Ihre Bestellung #48213')
  await tab.check(t)
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`/traces/${traces.bounced}`))
  await page.click('text=Suppress address')
  await page.waitForSelector('text=office@example.org is now suppressed')
  const suppressed = (): Promise<unknown> => server.daemon.rest.must('GET', '/v1/suppressions')
  t.regex(JSON.stringify(await suppressed()), /office@example\.org/)
  await page.click('.toast button')
  await page.waitForSelector('button:has-text("Suppress address")')
  t.notRegex(JSON.stringify(await suppressed()), /office@example\.org/)
  t.is(await page.locator('text=Replay…').count(), 0, 'no replay after acceptance by a provider')
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), new RegExp(`curl ${server.url}/v1/traces/${traces.bounced} [^]*Bearer \\$KEY`))
  await tab.check(t)
})

test('captures: live updates, all views, three widths', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  await tab.go('/captures')
  await page.waitForSelector('text=Nothing captured yet')
  await tab.check(t)
  await seed(t, server)
  await page.waitForSelector('.message-list a')
  await server.daemon.rest.must('POST', '/v1/messages', {
    from: 'a@alpenblick.example',
    to: 'new@example.test',
    subject: 'The newest',
    text: 'x',
  })
  await page.waitForSelector('.new-pill')
  await page.click('.new-pill')
  await page.waitForSelector('.message-list >> text=The newest')
  await page.click('.message-list >> text=Contact form')
  const frame = page.frameLocator('iframe.paper')
  await frame.locator('text=Ihre Bestellung ist unterwegs').waitFor()
  await page.click('.segments >> text=375')
  await page.waitForURL(/width=375/)
  t.is(await page.locator('iframe.paper').evaluate((one) => (one as unknown as { clientWidth: number }).clientWidth), 375)
  t.regex(await page.innerText('.reader-bar'), /1 remote image not loaded/)
  await page.click('.segments >> text=Dark')
  await page.waitForURL(/colors=dark/)
  await page.waitForSelector('iframe.paper.dark')
  await tab.check(t)
  await page.click('.segments >> text=Light')
  const contact = page.url()
  await page.click('[aria-label="Previous message"]')
  await page.waitForURL((url) => url.pathname !== new URL(contact).pathname)
  await page.click('[aria-label="Next message"]')
  await page.waitForURL((url) => url.pathname === new URL(contact).pathname)
  await frame.locator('text=Ihre Bestellung ist unterwegs').waitFor()
  for (const [name, shown] of [
    ['Text', /Guten Tag/],
    ['Source', /Content-Type: multipart/],
    ['Headers', /Message-ID/],
    ['Links', /https:\/\/alpenblick\.example\/track\/48213/],
    ['Attachments', /rechnung\.pdf/],
    ['Why captured', /SES Frankfurt is in sandbox mode/],
  ] as const) {
    await page.click(`[role=tab]:has-text("${name}")`)
    await tab.ready()
    await page.locator('.reader-tab', { hasText: shown }).waitFor() // the name of the destination loads last
    await tab.check(t)
  }
  await page.fill('#recipient', 'qa+signup@example.test')
  await page.press('#recipient', 'Enter')
  await page.waitForURL(/address=/)
  await tab.ready()
  t.is(await page.locator('.message-list a').count(), 1)
  await page.click('.message-list a')
  t.regex((await page.getAttribute('.back-button', 'href')) ?? '', /address=qa/, 'the link back keeps the search')
  await page.goBack()
  await page.goBack()
  await becomesTrue(page, `document.querySelector('#recipient').value === ''`)
})

test('overview: covers all destinations, and says so beyond 1,000', async (t) => {
  const server = await startDashboard(t, browser)
  const { rest } = server.daemon
  const make = (name: string): Promise<string> => makeDestination(rest, { name, port: 9, mode: 'live' })
  for (let at = 0; at < 220; at += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => make(`host ${at + i}`)))
  const { page, go, check } = await server.open()
  await go('/')
  await page.waitForSelector('.healths li')
  t.is(await page.locator('text=newest are checked here').count(), 0, 'the list covers all destinations')
  const {
    data: [first],
  } = (await rest.must('GET', '/v1/destinations?limit=1')) as { data: readonly object[] }
  let at = 0
  await page.route(/\/v1\/destinations\?/, async (route) => {
    const data = Array.from({ length: 200 }, () => ({ ...first, id: `dst_${String(at++)}` }))
    await route.fulfill({ json: { data, next_cursor: 'more' } })
  })
  await page.reload()
  await page.waitForSelector('aside >> text=/Only the 1,?000 newest are checked here/')
  await check(t)
})

test('dashboard build: the first load is below 66 KiB', async (t) => {
  await startDashboard(t, browser)
  const read = (name: string): Buffer => readFileSync(join(builtFolder, name))
  const { script, style, theme, preload } = JSON.parse(read('manifest.json').toString()) as Manifest
  const size = [script, style, theme, ...preload].reduce((sum, name) => sum + gzipSync(read(name)).length, 0)
  t.true(size < 66 * 1024, `${String(size)} bytes`)
})
