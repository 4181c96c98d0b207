/** Operator screens in Chromium: the service and all organizations. Other users get no access. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { writeLastBackup } from '../../../../daemon/backup/last-backup.ts'
import { observed } from '#core/findings/finding.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { sessions } from '#core/people/sign-in/session.ts'
import { Change } from '#store/change.ts'
import { browserOf } from '../../../support/web/browser.ts'
import { testWith } from '../../../support/peers/peers.ts'
import { openFindings } from '../../rest/insights/finding-requests.ts'
import { startDashboard, type DashboardTab } from '../dashboard-server.ts'
import { seed } from '../seed.ts'

const test = testWith('chromium')
const browser = browserOf(test)

const operators = { POSTERN_OPERATORS: 'Olga@Alpenblick.example' }

test('operator: state, plan, limits, flags and prices with undo and audit log', async (t) => {
  const server = await startDashboard(t, browser, operators)
  await seed(t, server)
  const tab = await server.open({ colorScheme: 'both' })
  const { page } = tab
  await seesSystem(t, server, tab)
  await page.click('.areas >> text=Organizations')
  await page.waitForSelector('tbody tr')
  await tab.check(t)
  await page.fill('#organization-search', 'zzz')
  await page.press('#organization-search', 'Enter')
  await page.waitForURL(/q=zzz/)
  await page.waitForSelector('text=No organization has “zzz” in its name or ID')
  await tab.check(t)
  await page.click('text=Clear all')
  await page.click('tbody a')
  await page.waitForURL(/\/operator\/organizations\/org_/)
  await page.getByRole('combobox', { name: 'Plan' }).selectOption('pro')
  await page.click('button:has-text("Set plan")')
  await page.waitForSelector('.toast >> text=The plan is now pro.')
  await page.waitForSelector('.top .tag >> text=pro')
  await page.focus('.toast button') // a focused toast stays
  await tab.check(t)
  await page.click('.toast button')
  await page.waitForSelector('.top .tag >> text=enterprise')
  await page.click('[role=tab]:has-text("Limits")')
  await tab.fill('Override: sends_per_day', '500')
  await tab.check(t)
  await page.click('text=Save limits')
  await page.waitForSelector('tr:has-text("sends_per_day") >> td.num >> text=500')
  await page.click('.toast button')
  await page.waitForSelector('tr:has-text("sends_per_day") >> td.num >> text=no limit')
  await page.click('[role=tab]:has-text("Flags")')
  await page.click('li:has-text("bulk_replay") >> text=Off')
  await page.waitForSelector('li:has-text("bulk_replay") >> [aria-pressed=true] >> text=Off')
  await page.focus('.toast button') // a focused toast stays
  await tab.check(t)
  await page.click('.toast button')
  await page.waitForSelector('li:has-text("bulk_replay") >> [aria-pressed=true] >> text=Default: on')
  await page.click('[role=tab]:has-text("Prices")')
  await page.click('text=Set price')
  await page.waitForSelector('dialog')
  await tab.fill('Unit price (rappen)', '2.5')
  await tab.check(t)
  await page.click('dialog >> button:has-text("Set price")')
  await page.waitForSelector('tbody >> text=2.5')
  await tab.check(t)
  await page.click('[role=tab]:has-text("Usage")')
  await page.waitForSelector('text=Invoice preview')
  await page.waitForSelector('text=/Total CHF/')
  await tab.check(t)
  await page.click('[role=tab]:has-text("Audit")')
  await page.waitForSelector('tbody >> text=organization.price_set')
  t.regex(await page.innerText('tbody'), /organization\.plan_set[^]*operator usr_/)
  await tab.check(t)
  await page.click('[title="This screen as an API call"]')
  t.regex(await page.innerText('.drawer'), /\/operator\/v1\/organizations\/org_[0-9a-f]+\/audit/)
})

async function seesSystem(t: ExecutionContext, server: Awaited<ReturnType<typeof startDashboard>>, tab: DashboardTab): Promise<void> {
  const { page } = tab
  await page.click('nav >> text=Operator')
  await page.waitForSelector('text=The service accepts and delivers mail.')
  await page.waitForSelector('tbody >> text=Infomaniak')
  await page.waitForSelector('dl >> text=Run postern backup FILE')
  const findings = page.getByRole('region', { name: 'Findings' })
  await findings.getByText('The first check runs').waitFor()
  await tab.check(t)
  await findings.getByRole('button', { name: 'Check now' }).click()
  await findings.getByText('postern backup every day').waitFor()
  await tab.check(t)
  await writeLastBackup(server.daemon.config.dataDir, Date.now() - 3 * 3_600_000)
  await page.reload()
  await findings.getByText('No backup', { exact: true }).waitFor() // result of the previous check
  await page.waitForSelector('.ledger > div:has-text("Last backup") >> text=3 h ago')
  await rm(join(server.daemon.config.dataDir, 'last-backup.json'))
  await page.click('.areas >> text=Failed logins')
  await page.waitForSelector('text=No failed SMTP logins in the last 15 minutes')
  await tab.check(t)
}

test('overview: errors of the service are one row, for operators only', async (t) => {
  const server = await startDashboard(t, browser, operators)
  await seed(t, server)
  const full = observed('disk.low', '', { folder: '/data', freeMib: 1, neededMib: 2 })
  const late = observed('database.old', '', { database: 'db', version: '14', oldest: 15 })
  await openFindings(server.daemon, systemOrganizationId, [
    full,
    late,
    observed('address.listed', 'a', { address: '192.0.2.7', zone: 'z' }),
  ])
  await openFindings(server.daemon, server.daemon.organizationId, [observed('domain.dkim', 'rigi.example', { domain: 'rigi.example' })])
  const tab = await server.open({ colorScheme: 'both' })
  await tab.go('/')
  const row = tab.page.locator('.look li:has-text("2 problems with this service")')
  await row.locator('p').waitFor()
  t.regex(await row.innerText(), /192\.0\.2\.7|\/data has 1 MiB free/)
  await tab.check(t)
  await row.getByRole('link', { name: 'Open operator' }).click()
  await tab.page.waitForURL(/\/operator$/)
  await tab.page.getByRole('region', { name: 'Findings' }).getByText('192.0.2.7 is on the blocklist z', { exact: true }).waitFor()

  const others = await startDashboard(t, browser, { POSTERN_OPERATORS: 'ops@alpenblick.example' })
  await seed(t, others)
  await openFindings(others.daemon, systemOrganizationId, [full])
  await openFindings(others.daemon, others.daemon.organizationId, [observed('domain.dkim', 'rigi.example', { domain: 'rigi.example' })])
  const { page } = await others.open()
  await page.waitForSelector('.look li')
  t.is(await page.locator('.look li').count(), 1)
})

test('operator: hidden from others in navigation, palette, keys, URLs and API', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'ops@alpenblick.example' })
  const tab = await server.open()
  const { page } = tab
  t.is(await page.locator('nav >> text=Operator').count(), 0)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('operator')
  await page.waitForSelector('[role=option]')
  t.is(await page.locator('[role=option] >> text=/^Operator/').count(), 0)
  await page.keyboard.press('Escape')
  for (const path of ['/operator', '/operator/organizations', '/operator/queue', '/operator/logins'])
    t.is((await page.goto(server.url + path))?.status(), 404, path)
  await tab.go('/traces')
  const calls = await page.evaluate(`(async () => {
    const [{ id }] = JSON.parse(document.getElementById('app').dataset.boot).organizations
    const statuses = []
    for (const [method, path, body] of [
      ['GET', '/operator/v1/system'], ['GET', '/operator/v1/organizations'], ['GET', '/operator/v1/organizations/' + id],
      ['GET', '/operator/v1/organizations/' + id + '/audit'], ['GET', '/operator/v1/smtp-logins'],
      ['PUT', '/operator/v1/organizations/' + id + '/plan', { plan: 'free' }], ['PUT', '/operator/v1/organizations/' + id + '/flags', { forms: false }],
    ]) statuses.push((await fetch(path, { method, ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }) })).status)
    return statuses
  })()`)
  t.deepEqual(
    calls,
    Array.from({ length: 7 }, () => 404),
  )
})

test('operator: requires a proven address; changes require the same origin', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'ops@alpenblick.example' })
  await server.open()
  const invitation = await server.daemon.rest.must('POST', '/v1/invitations', { email: 'ops@alpenblick.example', role: 'viewer' })
  const invited = await (await browser().newContext()).newPage()
  await invited.goto(String(invitation['accept_url']))
  await invited.click('button:has-text("Join")')
  await invited.waitForLoadState()
  t.is((await invited.goto(`${server.url}/operator`))?.status(), 404)
  await invited.context().close()
  const tab = await server.open({ link: await server.signInLink('ops@alpenblick.example') })
  await tab.go('/operator')
  await tab.page.waitForSelector('text=The service accepts and delivers mail.')
  const cookies = (await tab.page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const { data } = (await (await fetch(`${server.url}/operator/v1/organizations`, { headers: { cookie: cookies } })).json()) as {
    data: { id: string }[]
  }
  const put = (headers: Record<string, string>) =>
    fetch(`${server.url}/operator/v1/organizations/${String(data[0]?.id)}/plan`, {
      method: 'PUT',
      headers: { cookie: cookies, 'content-type': 'application/json', ...headers },
      body: '{"plan":"free"}',
    })
  t.is((await put({ origin: 'https://evil.example' })).status, 403)
  t.is((await put({ origin: server.url })).status, 200)
})

test('operator: rejects forged cookies, other sites, old proofs, ended sessions', async (t) => {
  const server = await startDashboard(t, browser, { POSTERN_OPERATORS: 'ops@alpenblick.example' })
  const cookieOf = async ({ page }: DashboardTab): Promise<string> =>
    (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const owner = await cookieOf(await server.open())
  const tab = await server.open({ link: await server.signInLink('ops@alpenblick.example') })
  const operator = await cookieOf(tab)
  const root = `${server.url}/operator/v1/organizations`
  const ask = async (headers: Record<string, string>) => (await fetch(root, { headers })).status
  const { data } = (await (await fetch(root, { headers: { cookie: operator } })).json()) as { data: { id: string }[] }
  const id = String(data[0]?.id)
  const [name = '', userId = ''] = operator.split(/[=.]/)
  const [, , ownersSecret = ''] = owner.split(/[=.]/)
  for (const [what, headers] of Object.entries({
    'no cookie': {},
    'a made-up secret': { cookie: `${name}=${userId}.${'x'.repeat(43)}` },
    "the operator's id with the secret of another": { cookie: `${name}=${userId}.${ownersSecret}` },
    "another cookie before the operator's id": { cookie: `${owner}; ${name}=${userId}.` },
    "an owner's first of two": { cookie: `${owner}; ${operator}` },
    'an address in place of a session': { cookie: `${name}=ops@alpenblick.example` },
    'an owner with an organization header': { cookie: owner, 'x-organization-id': id },
    'an owner with the header of another organization': { cookie: owner, 'x-organization-id': `org_${'0'.repeat(32)}` },
    'a wrong key in addition to the session': { cookie: operator, authorization: `Bearer svcop_${'x'.repeat(43)}` },
    'the name in a header': { cookie: owner, 'x-forwarded-user': 'ops@alpenblick.example', 'x-forwarded-email': 'ops@alpenblick.example' },
  }))
    t.is(await ask(headers), 404, what)
  t.is(await ask({ cookie: operator, 'x-organization-id': `org_${'0'.repeat(32)}` }), 200, 'the header has no effect')
  const put = async (headers: Record<string, string>) => {
    const answer = await fetch(`${root}/${id}/plan`, {
      method: 'PUT',
      headers: { cookie: operator, 'content-type': 'application/json', ...headers },
      body: '{"plan":"basic"}',
    })
    return [answer.status, ((await answer.json()) as { error?: { next_action: string } }).error?.next_action]
  }
  for (const headers of [
    {},
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: server.url, 'sec-fetch-site': 'cross-site' },
    { origin: server.url, 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[])
    t.is((await put(headers))[0], 403, JSON.stringify(headers))
  const { database } = server.daemon
  const [stored] = await database.all(sessions, { organizationId: userId })
  if (!stored) return t.fail('no session')
  const aged = { ...stored.record, provedAt: stored.record.provedAt - 11 * 60_000 }
  t.true((await database.commit(new Change().rewrite(sessions, userId, stored, aged))).ok)
  t.deepEqual(await put({ origin: server.url }), [401, 'sign_in_again'])
  t.is(await ask({ cookie: operator }), 200, 'reading stays possible')
  await tab.page.reload()
  await tab.go(`/operator/organizations/${id}`)
  await tab.page.waitForSelector('.note >> text=Confirm')
  await tab.check(t)
  await tab.page.click('.nav-account')
  await tab.page.click('text=Sign out')
  await tab.page.waitForURL(/signed-out$/)
  t.is(await ask({ cookie: operator }), 404)
})

test('operator: translated screens report an unreachable service', async (t) => {
  const server = await startDashboard(t, browser, operators)
  const error = { code: 'internal_error', message: 'It broke.', next_action: 'retry', details: {} }
  const broken = { status: 500, contentType: 'application/json', body: JSON.stringify({ error }) }
  const look = async (locale: string, texts: string, findingsFailed: string, away: string): Promise<void> => {
    const tab = await server.open({ locale })
    await tab.go('/operator')
    await tab.page.waitForSelector(`text=${texts}`)
    await tab.page.click('section > .head > button')
    await tab.page.waitForSelector(`text=${catalogIn('findings', locale).summaries['backup.none']({ store: 'machine' })}`)
    await tab.check(t)
    await tab.page.route('**/operator/v1/doctor', (route) => route.fulfill(broken))
    await tab.page.waitForSelector(`text=${findingsFailed}`)
    await tab.page.route('**/v1/**', (route) => route.abort())
    await tab.page.waitForSelector(`text=${away}`)
    await tab.check(t)
  }
  // in parallel, because each waits for a poll
  await Promise.all([
    look(
      'de',
      'Der Dienst nimmt E-Mails an und stellt sie zu.',
      'Die Befunde konnten nicht geladen werden',
      'Keine Antwort des Dienstes seit',
    ),
    look('fr', 'Le service accepte et distribue les e-mails.', 'Impossible de charger les constats', 'Le service ne répond plus depuis'),
    look('it', 'Il servizio accetta e consegna la posta.', 'Impossibile caricare i riscontri', 'Il servizio non risponde dalle'),
  ])
})
