/** Shell of the dashboard: headers and files over HTTP; in Chromium the current organization and copying. */
import { members } from '#core/people/members/member.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { testWith } from '../../support/peers/peers.ts'
import { axeFaults, browserOf } from '../../support/web/browser.ts'
import { startDashboard, type DashboardServer } from './dashboard-server.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('dashboard shell: not cached; assets cached permanently; no other file served', async (t) => {
  const server = await startDashboard(t, browser)
  const { page } = await server.open()
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies()
  const cookie = `${name}=${value}`
  const shell = await fetch(`${server.url}/traces`, { headers: { cookie } })
  const html = await shell.text()
  t.is(shell.headers.get('cache-control'), 'no-store')
  const policy = shell.headers.get('content-security-policy') ?? ''
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"])
    t.true(policy.includes(part), part)
  t.notRegex(policy, /unsafe|https?:|\*/)
  t.is(shell.headers.get('x-content-type-options'), 'nosniff')
  t.is(shell.headers.get('cross-origin-opener-policy'), 'same-origin')
  t.regex(shell.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Lax/)
  const files = [...html.matchAll(/"(\/assets\/dashboard\/[^"]+)"/g)].map(([, path]) => path ?? '')
  t.true(files.length >= 3)
  for (const path of files) {
    const file = await fetch(server.url + path, { headers: { 'accept-encoding': 'identity' } })
    t.is(file.status, 200, path)
    t.is(file.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    t.is(file.headers.get('set-cookie'), null)
    t.true((await file.text()).length > 0)
  }
  for (const path of [
    ...['manifest.json', 'main.js', '.', '..', '%2e%2e', '..%2fmanifest.json', '..%2f..%2f..%2fpackage.json', '%2fetc%2fpasswd'],
    ...['main-AAAAAAAA.js', 'main-AAAAAAAA.js.gz', 'main-AAAAAAAA.js%00', `main-${'A'.repeat(90)}.js`, '..\\..\\package.json'],
  ]) {
    const { status } = await fetch(`${server.url}/assets/dashboard/${path}`)
    t.true(status === 404 || status === 400, `${path}: ${status}`)
  }
  const anonymous = await fetch(`${server.url}/traces`, { redirect: 'manual' })
  t.is(anonymous.headers.get('location'), '/sign-in?next=%2Ftraces')
})

/** Creates another organization of the owner. Returns its id and a client with its key. */
async function secondOrganization({ daemon }: DashboardServer, name: string) {
  const { database, rest, client, organizationId } = daemon
  const { id, api_key: key } = (await rest.must('POST', '/v1/organizations', { name })) as Record<'id' | 'api_key', string>
  const user = await userByEmail(database, 'olga@alpenblick.example')
  const own = user && (await database.get(members, { organizationId }, user.record.id))
  if (!own) throw new Error('the owner is missing')
  await database.commit(new Change().insert(members, id, { ...own.record, organizationId: id, role: 'viewer' as const }))
  return { id, rest: client(key) }
}

const relay = { provider: 'smtp', credentials: { host: '127.0.0.1', port: 9, security: 'none' } }

test('dashboard shell: shows only the chosen organization; unknown ones show nothing', async (t) => {
  const server = await startDashboard(t, browser)
  const { page: first } = await server.open()
  await first.context().close()
  const second = await secondOrganization(server, 'Beta')
  for (const [rest, name] of [
    [server.daemon.rest, 'Alpha relay'],
    [second.rest, 'Beta relay'],
  ] as const) {
    const { id } = await rest.must('POST', '/v1/destinations', { name, ...relay })
    await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
  }
  await server.daemon.rest.must('POST', '/v1/projects', { name: 'Alpha project' })
  const tab = await server.open()
  const { page } = tab
  const shown = async (): Promise<string> => page.innerText('main')
  await page.waitForSelector('main >> text=Alpha relay')
  await page.click('.project')
  await page.waitForSelector('.menu >> text=Alpha project')
  await page.click('.menu >> text=Beta')
  await page.waitForURL(new RegExp(`org=${second.id}`))
  await page.waitForSelector('main >> text=Beta relay')
  t.notRegex(await shown(), /Alpha relay/)
  await page.click('.project')
  await page.waitForSelector('.menu >> text=Beta')
  t.is(await page.locator('.menu >> text=Alpha project').count(), 0)
  await page.goBack()
  await page.waitForSelector('main >> text=Alpha relay')
  t.notRegex(await shown(), /Beta relay/)
  await tab.go(`/destinations?org=${second.id}`)
  await page.waitForSelector('text=Beta relay')
  t.is(await page.locator('header >> text=New destination').count(), 0, 'the user is a viewer there')
  await page.click('[title="This screen as an API call"]')
  t.regex((await page.getAttribute('.drawer a[href^="/settings/keys"]', 'href')) ?? '', new RegExp(`org=${second.id}`))
  await page.goto(`${server.url}/destinations?org=org_${'1'.repeat(32)}`)
  await page.waitForSelector('text=You are not a member of this organization')
  t.notRegex(await page.innerText('body'), /relay/)
  await tab.check(t)
})

test('API call: the copied command is one call for any address', async (t) => {
  const server = await startDashboard(t, browser)
  const { page, ready } = await server.open()
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.waitForSelector('text=No destinations yet')
  await page.goBack()
  await page.waitForSelector('text=No mail sent yet.')
  await page.click('[title="This screen as an API call"]')
  await page.waitForSelector('.drawer >> text=Response')
  await page.goto(`${server.url}/traces/'-globalThis.x()-'(!)`)
  await ready()
  await page.click('[title="This screen as an API call"]')
  const text = (): Promise<string> => page.innerText('.drawer pre >> nth=0')
  t.regex(await text(), /^curl '?http:\/\/localhost:\d+\/v1\/traces\/%27-globalThis\.x%28%29-%27%28%21%29'? \\/)
  await page.click('.drawer >> text=Node')
  t.regex(await text(), /fetch\('http:\/\/localhost:\d+\/v1\/traces\/%27-globalThis\.x%28%29-%27%28%21%29'/)
  await page.click('.drawer >> text=MCP tool')
  t.deepEqual(JSON.parse(await text()), { name: 'email_trace_lookup', arguments: { trace_id: "'-globalThis.x()-'(!)" } })
  await page.goto(`${server.url}/traces?status=failed&to=ada@example.org`)
  await ready()
  await page.click('[title="This screen as an API call"]')
  await page.click('.drawer >> text=MCP tool')
  t.deepEqual(JSON.parse(await text()), { name: 'email_traces_search', arguments: { filter: { status: 'failed', to: 'ada@example.org' } } })
  await page.goto(`${server.url}/settings/members`)
  await ready()
  await page.click('[title="This screen as an API call"]')
  await page.waitForSelector('.drawer >> text=Node')
  t.is(await page.locator('.drawer >> text=MCP tool').count(), 0, 'no equivalent tool')
  const { id } = await server.daemon.rest.must('POST', '/v1/forms', { name: 'Contact', template: 'contact' })
  await page.goto(`${server.url}/forms/${String(id)}/notifications`)
  await ready()
  await page.waitForSelector('text=Save notifications')
  await page.click('.form-tabs >> text=Theme')
  await page.waitForSelector('.form-tabs [aria-current] >> text=Theme')
  await page.click('[title="This screen as an API call"]')
  t.regex(await text(), /\/draft\b/, 'the call of the previous tab is replaced')
})

test('navigation: 14 entries and the foot fit 768 px of height without a scroll bar', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'olga@alpenblick.example' })
  const { page } = await server.open()
  const beyond = (): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('.nav a, .nav button')]
      .filter((one) => one.getBoundingClientRect().bottom > innerHeight || one.getBoundingClientRect().height < 28)
      .map((one) => one.title || one.textContent)`)
  const scrolls = (): Promise<boolean> =>
    page.evaluate(`(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('.nav-groups'))`)
  t.is(await page.locator('.nav-groups a').count(), 14)
  t.deepEqual(await page.locator('.nav-foot > a').allInnerTexts(), ['Operator', 'Settings', 'Docs'])
  for (const width of [1440, 1000]) {
    await page.setViewportSize({ width, height: 768 })
    await page.waitForSelector(width === 1000 ? '.shell.rail' : '.shell:not(.rail)')
    t.deepEqual([await beyond(), await scrolls()], [[], false], String(width))
    await page.setViewportSize({ width, height: 500 })
    t.true(await scrolls(), 'lower windows scroll')
    t.true(await page.isVisible('.nav-account'))
    await page.click('.nav a[aria-keyshortcuts="g w"]')
    await page.waitForURL(/\/websites/)
    t.deepEqual(await axeFaults(page, { at: [width] }), [])
  }
})

test('tabs and settings: links, trails and shortcuts lead to each screen', async (t) => {
  const server = await startDashboard(t, browser)
  const tab = await server.open()
  const { page } = tab
  const { id } = await server.daemon.rest.must('POST', '/v1/webhooks', { name: 'Order system', target_url: 'http://127.0.0.1:9/hooks' })
  await page.keyboard.press('g')
  await page.keyboard.press('q')
  await page.waitForURL(/\/queue$/)
  t.deepEqual(await page.locator('.top-tabs a').allInnerTexts(), ['Waiting', 'Scheduled', 'Replays', 'History'])
  await page.click('.top-tabs >> text=Scheduled')
  await page.waitForURL(/\/queue\/scheduled$/)
  await page.waitForSelector('h1 >> text="Queue"')
  t.is(await page.innerText('.nav a[aria-current=page]'), 'Queue')
  t.is(await page.title(), 'Scheduled – Postern')
  await page.keyboard.press('g')
  await page.keyboard.press(',')
  await page.waitForURL(/\/settings\/project$/)
  await page.click('.sections >> text=Webhooks')
  await page.waitForSelector('h1:has-text("Settings"):has-text("Webhooks")')
  await page.click('tbody >> text=Order system')
  await page.waitForURL(new RegExp(`/settings/webhooks/${String(id)}$`))
  await page.waitForSelector('h1:has-text("Order system")')
  t.deepEqual(await page.locator('h1 a').allInnerTexts(), ['Settings', 'Webhooks'])
  t.is(await page.locator('.sections').count(), 0, 'a page of one object has the full width')
  await page.evaluate(`history.pushState(null, '', '/bounce-sources'); dispatchEvent(new PopStateEvent('popstate')); 0`)
  await page.waitForURL(/\/incoming\/sources$/)
  await tab.check(t)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.click('.bottom >> text=More')
  await page.click('.nav >> text=Settings')
  await page.waitForURL(/\/settings$/)
  await tab.check(t)
})
