/** Sign-in over HTTP: unknown addresses, cookies, forged forms, used links and scanners. */
import test, { type ExecutionContext } from '#test'
import { startPageServer, type PageServer } from '../page-server.ts'
import { PageClient, type Visited } from '../page-client.ts'
import { column } from '../../../support/column.ts'

const path = (link: string): string => new URL(link).pathname

/** Headers with information; date and request id always differ. */
const telling = ({ headers }: Visited): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name)))

async function mailedLink(server: PageServer, email: string): Promise<string> {
  await new PageClient(server).post('/sign-in', { email })
  return path((await server.mailTo(email)).link)
}

test('sign-in: known and unknown addresses get the same status, headers and body', async (t) => {
  for (const hasMail of [true, false]) {
    const server = await startPageServer(t, { hasMail })
    const pageClient = new PageClient(server)
    await pageClient.signIn('known@example.ch')
    pageClient.cookie = ''
    const answers = []
    for (const email of ['known@example.ch', 'other@example.ch'])
      answers.push([email, await pageClient.post('/sign-in', { email })] as const)
    const [known, unknown] = answers.map(([email, visited]) => ({
      status: visited.status,
      headers: telling(visited),
      html: visited.html.replaceAll(email, 'ADDRESS'),
    }))
    t.deepEqual(known, unknown)
    t.is(known?.status, 200)
    t.deepEqual(column(await server.mails(), 'to'), hasMail ? ['known@example.ch'] : [])
    const refused = []
    for (const email of ['known@example.ch', 'other@example.ch']) {
      let last: Visited | undefined
      for (let i = 0; i < 6; i++) last = await pageClient.post('/sign-in', { email })
      refused.push({ status: last?.status, html: last?.html, headers: last && telling(last) })
    }
    t.is(refused[0]?.status, 429)
    t.deepEqual(refused[0], refused[1])
  }
})

test('sign-in: opening a mailed link changes nothing; its button signs in once', async (t) => {
  const server = await startPageServer(t)
  await new PageClient(server).signIn('ada@example.ch')
  const link = await mailedLink(server, 'ada@example.ch')
  const pageClient = new PageClient(server)
  const commits = server.database.commits
  for (let i = 0; i < 5; i++) {
    const { status, html, headers } = await pageClient.get(link)
    t.is(status, 200)
    t.regex(html, /Continue as <b>ada@example\.ch<\/b>/)
    t.is(headers.get('set-cookie'), null)
  }
  t.is((await fetch(server.url + link, { method: 'HEAD' })).status, 200)
  t.is(server.database.commits, commits)
  const used = await pageClient.post(link)
  t.deepEqual([used.status, used.location], [303, '/'])
  t.regex((await pageClient.get('/organizations')).html, /ada@example\.ch/)
  const other = new PageClient(server)
  for (const { status, html } of [await other.get(link), await other.post(link)]) {
    t.is(status, 404)
    t.regex(html, /expired or was already used/)
  }
  t.is(other.cookie, '')
})

test('sign-in: an expired link is refused', async (t) => {
  const server = await startPageServer(t)
  await new PageClient(server).signIn('ada@example.ch')
  const link = await mailedLink(server, 'ada@example.ch')
  server.clock.advance(15 * 60_000)
  const pageClient = new PageClient(server)
  t.is((await pageClient.post(link)).status, 404)
  t.is(pageClient.cookie, '')
})

test('cookies: bound to host and scheme, without access by scripts and other sites', async (t) => {
  const https = await startPageServer(t, { publicUrl: 'https://post.example.ch' })
  const own = { 'sec-fetch-site': 'same-origin' }
  const answer = await new PageClient(https).post(path(await https.operatorLink('ada@example.ch')), {}, own)
  t.regex(
    answer.headers.get('set-cookie') ?? '',
    /^__Host-postern=usr_[0-9a-f]{32}\.[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
  const http = await startPageServer(t)
  const plain = await new PageClient(http).post(path(await http.operatorLink('ada@example.ch')))
  t.regex(plain.headers.get('set-cookie') ?? '', /^postern_session=[^;]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/)
})

test('sessions: a planted session is replaced at sign-in', async (t) => {
  const server = await startPageServer(t)
  const attacker = new PageClient(server)
  await attacker.signIn('eve@example.ch')
  const planted = attacker.cookie
  const victim = new PageClient(server)
  victim.cookie = planted
  await victim.signIn('ada@example.ch')
  t.not(victim.cookie, planted)
  t.regex((await victim.get('/organizations')).html, /ada@example\.ch/)
  attacker.cookie = planted
  t.is((await attacker.get('/organizations')).location, '/sign-in?next=%2Forganizations')
})

test('forms: foreign origins are refused, with and without a session', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  const link = path(await server.operatorLink('ada@example.ch'))
  const foreign: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: server.url, 'sec-fetch-site': 'cross-site' },
    { origin: server.url, 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]
  for (const headers of foreign) {
    t.is((await pageClient.post(link, {}, headers)).status, 403, JSON.stringify(headers))
    t.is((await pageClient.post('/sign-in', { email: 'ada@example.ch' }, headers)).status, 403)
  }
  t.is(pageClient.cookie, '')
  t.is((await pageClient.post(link)).status, 303)
  const csrf = await pageClient.csrf()
  for (const headers of foreign) t.is((await pageClient.post('/sign-out', { csrf }, headers)).status, 403)
  t.is((await pageClient.post('/sign-out', { csrf })).status, 303)
})

test('forms: every form of a session requires its token', async (t) => {
  const server = await startPageServer(t)
  const [pageClient, other] = [new PageClient(server), new PageClient(server)]
  await pageClient.signIn('ada@example.ch')
  await other.signIn('ben@example.ch')
  const members = `/organizations/${server.organizationId}/members`
  const forms = [
    ...['/sign-out', '/account/applications/revoke'],
    ...['role', 'remove', 'transfer', 'invite', 'resend', 'revoke'].map((act) => `${members}/${act}`),
    ...['/organizations', '/invitations/accept', `/organizations/${server.organizationId}/leave`],
  ]
  const wrong = ['', 'x', await other.csrf()]
  const commits = server.database.commits
  for (const form of forms) {
    for (const csrf of wrong) {
      const { status, html } = await pageClient.post(form, { csrf })
      t.is(status, 403, form)
      t.regex(html, /belongs to an earlier session/)
    }
  }
  t.is(server.database.commits, commits)
})

test('sign-out: ends the session in the store, not only in the browser', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  await pageClient.signIn('ada@example.ch')
  const { cookie } = pageClient
  const answer = await pageClient.send('/organizations', '/sign-out')
  t.deepEqual([answer.status, answer.location], [303, '/signed-out'])
  t.regex(answer.headers.get('set-cookie') ?? '', /^postern_session=; Max-Age=0;/)
  pageClient.cookie = cookie
  t.is((await pageClient.get('/organizations')).status, 303)
})

test('pages: never cached or framed, with only their own scripts', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  await pageClient.signIn('ada@example.ch')
  const pages = [
    '/organizations',
    `/organizations/${server.organizationId}/members`,
    '/account/applications',
    '/signed-out',
    '/sign-in/link/x',
    '/invitations/x',
  ]
  for (const page of pages) assertSafe(t, page, await pageClient.get(page))
  pageClient.cookie = ''
  assertSafe(t, '/sign-in', await pageClient.get('/sign-in'))
})

function assertSafe(t: ExecutionContext, page: string, { headers, html }: Visited): void {
  const policy = headers.get('content-security-policy') ?? ''
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"])
    t.true(policy.includes(part), page)
  t.notRegex(policy, /unsafe|\*|https?:|data:/, page)
  t.is(headers.get('cache-control'), 'no-store', page)
  t.is(headers.get('x-content-type-options'), 'nosniff', page)
  t.is(headers.get('referrer-policy'), 'same-origin', page)
  t.notRegex(html, /<style|<script>|\son\w+=|\sstyle=/i, page)
  t.regex(html, /^<!doctype html>\s*<html lang="en">/, page)
}

test('assets: the stylesheet has a hashed name and is cached for a year', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  const { html } = await pageClient.get('/sign-in')
  const [, style = ''] = /href="(\/assets\/style-[0-9a-f]{16}\.css)"/.exec(html) ?? []
  const answer = await pageClient.get(style)
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'text/css; charset=utf-8')
  t.is(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  for (const wrong of ['/assets/style.css', '/assets/..%2fassets.ts', '/assets/page.js'])
    t.is((await pageClient.get(wrong)).status, 404, wrong)
})

test('sign-in: without mail, the page shows the same way in to all visitors', async (t) => {
  const server = await startPageServer(t, { hasMail: false })
  const pageClient = new PageClient(server)
  t.regex((await pageClient.get('/sign-in')).html, /npx postern login-link name@example\.org</)
  t.regex((await pageClient.post('/sign-in', { email: 'ada@example.ch' })).html, /postern login-link/)
})

test('first link: creates the owner with an address, and is then invalid', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  const link = path(server.ownerLink)
  t.regex((await pageClient.get(link)).html, /Your email address/)
  t.is((await pageClient.post(link, { email: 'nonsense' })).status, 400)
  t.is((await new PageClient(server).post(link, { email: 'olga@example.ch', organization: '' })).status, 400)
  t.is((await pageClient.post(link, { email: 'olga@example.ch' })).status, 303)
  t.regex((await pageClient.get('/organizations')).html, /Owner/)
  t.is((await new PageClient(server).post(link, { email: 'eve@example.ch' })).status, 404)

  const second = await startPageServer(t)
  await new PageClient(second).signIn('olga@example.ch')
  t.is((await new PageClient(second).get(path(second.ownerLink))).status, 404)
})

test('first link: asks for the name of the organization, which other people then see', async (t) => {
  const server = await startPageServer(t)
  const olga = new PageClient(server)
  const link = path(server.ownerLink)
  t.regex((await olga.get(link)).html, /Name of your organization/)
  for (const organization of ['', ' ', 'two\nlines', 'x'.repeat(101)]) {
    const refused = await olga.post(link, { email: 'olga@example.ch', organization })
    t.is(refused.status, 400)
    t.regex(refused.html, /Enter the name of your organization on one line, with at most 100 characters\./)
    t.regex(refused.html, /value="olga@example\.ch"/)
  }
  t.is((await olga.post(link, { email: 'olga@example.ch', organization: ' Alpenblick <AG> ' })).status, 303)
  t.regex((await olga.get('/organizations')).html, /Alpenblick &lt;AG&gt;/)
  const { rest } = server.daemon
  t.like(await rest.must('GET', `/v1/organizations/${server.organizationId}`), { name: 'Alpenblick <AG>' })
  const { data } = await rest.must('GET', '/v1/audit')
  t.true(JSON.stringify(data).includes('"organization.updated"'))
})

test('operator link: asks for the name only if the organization has none and no owner', async (t) => {
  const server = await startPageServer(t)
  const asks = async (link: string) => /Name of your organization/.test((await new PageClient(server).get(path(link))).html)
  const early = await server.operatorLink('ada@example.ch')
  t.true(await asks(early))
  await new PageClient(server).post(path(server.ownerLink), { email: 'olga@example.ch', organization: 'Alpenblick' })
  t.false(await asks(early))
  t.false(await asks(await server.operatorLink('olga@example.ch')))
  t.is((await new PageClient(server).post(path(early), { organization: 'Other' })).status, 303)
})

test('sign-in: never redirects to another site', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  await pageClient.signIn('ada@example.ch')
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/..//evil.example'])
    t.is((await pageClient.get(`/sign-in?next=${encodeURIComponent(next)}`)).location, '/', next)
  t.is((await pageClient.get('/sign-in?next=%2Forganizations')).location, '/organizations')
})

test('pages: user input remains text', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  await pageClient.signIn('ada@example.ch')
  const hostile = '"><script>alert(1)</script>'
  const headers = { ...pageClient.origin, cookie: pageClient.cookie, 'content-type': 'application/json' }
  const named = await fetch(`${server.url}/v1/account`, { method: 'PATCH', headers, body: JSON.stringify({ name: hostile }) })
  t.is(named.status, 200)
  const members = `/organizations/${server.organizationId}/members`
  const pages = [
    await pageClient.get(members),
    await pageClient.send(members, `${members}/invite`, { email: hostile, role: 'viewer' }),
    await pageClient.get(`/organizations?done=${encodeURIComponent(hostile)}`),
  ]
  pageClient.cookie = ''
  pages.push(
    await pageClient.post('/sign-in', { email: hostile, next: hostile }),
    await pageClient.get(`/sign-in?next=${encodeURIComponent(hostile)}`),
  )
  for (const { html, status } of pages) t.false(html.includes('<script>alert'), String(status))
  t.true(pages[0]?.html.includes('&quot;&gt;&lt;script&gt;'))
})
