/** Consent over HTTP: sign-in, effects of a decision, and forged, tampered and repeated forms. */
import test, { type ExecutionContext } from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import { projects } from '#core/tenancy/organization.ts'
import {
  allowing,
  asking,
  decide,
  exchange,
  homeOf,
  join,
  loopbackRedirect,
  registered,
  signedIn,
  ticked,
  told,
  vouchedFor,
  signedInServer,
} from '../consent-requests.ts'
import { startPageServer, type PageServer } from '../page-server.ts'
import { PageClient, type Visited } from '../page-client.ts'

const path = (link: string): string => new URL(link).pathname
const count = (html: string, pattern: RegExp): number => html.match(pattern)?.length ?? 0
const projectCount = async ({ database, organizationId }: PageServer): Promise<number> =>
  (await database.all(projects, { organizationId })).length

/** Returns the principal of a user in the first organization. */
async function principalOf(server: PageServer, pageClient: PageClient): Promise<Principal> {
  const signed = await server.people.sessions.read(pageClient.cookie.split('=')[1] ?? '')
  return server.people.members.principalOf(signed?.user.id ?? '', server.organizationId)
}

function isRefused(t: ExecutionContext, { status, location }: Visited, wanted: number, why: string): void {
  t.is(status, wanted, why)
  t.is(location, '', why)
}

test('consent: anonymous visitors sign in first; approval returns a matching code', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const request = asking(server, { scope: 'api:read api:send' })
  const olga = new PageClient(server)
  const first = await olga.get(request.path)
  t.is(first.location, `/sign-in?next=${encodeURIComponent(request.path).replaceAll('%20', '+')}`)
  await olga.post('/sign-in', { email: 'olga@example.ch', next: request.path })
  const back = await olga.post(path((await server.mailTo('olga@example.ch')).link))
  t.is(back.location, request.path)

  const { status, html, headers } = await olga.get(back.location)
  t.is(status, 200)
  t.regex(html, /Nightly &lt;report&gt;[^]*Vouched for by <b>client\.example\.net<\/b>\. The answer goes to <b>app\.example\.net<\/b>/)
  t.regex(headers.get('content-security-policy') ?? '', /form-action 'self' https:\/\/app\.example\.net; .*frame-ancestors 'none'/)
  t.is(headers.get('cache-control'), 'no-store')
  t.deepEqual(ticked(html), ['api:read'])
  const { place, projectId } = await homeOf(server, server.organizationId)
  const allowed = await decide(olga, request.path, allowing(place, 'api:read'))
  t.is(allowed.status, 303)
  t.is(told(allowed.location).get('iss'), server.url)
  t.is(told(allowed.location).get('state'), 'st-1')
  const { body } = await exchange(server, request, allowed.location)
  t.is(body['scope'], 'api:read')
  const bearer = await server.oauth.tokenCheck.bearer(String(body['access_token']), 'rest')
  t.like(bearer, { projectId, organizationId: server.organizationId })
})

test('consent: denial returns an error with issuer and state', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { path: asked } = asking(server)
  const { location } = await decide(olga, asked, [['decision', 'deny']])
  t.true(location.startsWith('https://app.example.net/back?'))
  t.like(Object.fromEntries(told(location)), { error: 'access_denied', state: 'st-1', iss: server.url })
  t.false(told(location).has('code'))
})

test('consent: risky scopes start unchecked, also on request', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const mcp = { resource: `${server.url}/mcp` }
  const requested = (html: string): string[] => [...html.matchAll(/id="([\w-]+)-hint">\s*<b>Requested\.<\/b>/g)].map(([, id = '']) => id)
  for (const [changes, wanted, asked] of [
    [{ scope: '' }, ['api:read'], []],
    [{ scope: 'api:admin' }, ['api:read'], ['api-send', 'api-admin']],
    [{ ...mcp, scope: '' }, ['mcp:read', 'mcp:send-sandbox'], []],
    [{ ...mcp, scope: 'mcp:read' }, ['mcp:read'], []],
    [{ ...mcp, scope: 'mcp:send' }, ['mcp:read', 'mcp:send-sandbox'], ['mcp-send']],
    [{ ...mcp, scope: 'mcp:read mcp:admin' }, ['mcp:read', 'mcp:send-sandbox'], ['mcp-send', 'mcp-admin']],
  ] as const) {
    const { html } = await olga.get(asking(server, changes).path)
    t.deepEqual(ticked(html), wanted)
    t.deepEqual(requested(html), asked)
  }
  const both = `${asking(server, { scope: '' }).path}&resource=${encodeURIComponent(mcp.resource)}`
  t.deepEqual(ticked((await olga.get(both)).html).toSorted(), ['api:read', 'mcp:read', 'mcp:send-sandbox'])
})

test('consent: one note names the greatest risk', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const notes = async (changes = {}): Promise<string[]> => {
    const { html } = await olga.get(asking(server, changes).path)
    t.notRegex(html, /class="note/)
    return [...html.matchAll(/class="fine">([^<]*)</g)].map(([, text = '']) => text)
  }
  t.deepEqual(await notes(), [])
  t.regex(String(await notes({ redirect_uri: loopbackRedirect })), /^Any program on this device can pretend to be Nightly [^,]*$/)
  t.regex(String(await notes({ client_id: await registered(server) })), /^Stranger is not verified: anyone can use this name\. [^,]*$/)
  const local = { client_id: await registered(server, loopbackRedirect), redirect_uri: loopbackRedirect }
  t.regex(String(await notes(local)), /^Stranger is not verified: any program on this device can use this name\. [^,]*$/)
  const { html } = await olga.get(asking(server, local).path)
  t.regex(html, /Stranger is a program on this device\. It answers to <b>127\.0\.0\.1:33418<\/b>/)
  t.notRegex(html, /Vouched for/)
})

test('consent: the policy of the page allows only the redirect URI, in any form', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  for (const [uri, source] of [
    ['https://app.example.com:8443/x;%20script-src%20x', 'https://app.example.com:8443'],
    ['com.example.app:/back', 'com.example.app:'],
    ['http://[::1]:4711/back', 'http:'],
    ['http://localhost:4711/back', 'http://localhost:4711'],
  ] as const) {
    const { headers, status } = await olga.get(asking(server, { client_id: await registered(server, uri), redirect_uri: uri }).path)
    t.is(status, 200, uri)
    t.regex(headers.get('content-security-policy') ?? '', new RegExp(`form-action 'self' ${RegExp.escape(source)};`), uri)
  }
  const other = await olga.get('/account/applications')
  t.regex(other.headers.get('content-security-policy') ?? '', /form-action 'self';/)
})

test('consent: the role limits the scopes, also in tampered forms', async (t) => {
  const { server } = await signedInServer(t, 'olga@example.ch')
  const vera = await signedIn(server, 'vera@example.ch')
  const { path: asked } = asking(server, { scope: 'api:admin' })
  t.regex((await vera.get(asked)).html, /You are not a member of an organization yet/)
  isRefused(t, await decide(vera, asked, allowing((await homeOf(server, server.organizationId)).place, 'api:read')), 404, 'no member')

  const viewing = await join(server, 'vera@example.ch', 'viewer', server.organizationId)
  const { html } = await vera.get(asked)
  t.is(count(html, /Your role does not allow this/g), 2)
  t.deepEqual(ticked(html), ['api:read'])
  t.notRegex(html, /New project/)
  const more = await decide(vera, asked, allowing(viewing.place, 'api:read', 'api:send'))
  isRefused(t, more, 400, 'more than the role')
  t.regex(more.html, /href="#scope">Your role in Default does not allow all of these permissions/)
  isRefused(t, await decide(vera, asked, [...allowing(`${server.organizationId}.new`, 'api:read'), ['name', 'x']]), 403, 'no new project')
  t.is((await decide(vera, asked, allowing(viewing.place, 'api:read'))).status, 303)

  const billed = await join(server, 'vera@example.ch', 'billing')
  const both = (await vera.get(asked)).html
  t.regex(both, /House of billing[^]*Your role has no access to projects/)
  isRefused(t, await decide(vera, asked, allowing(billed.place, 'api:read')), 400, 'billing')
  t.is(await projectCount(server), 1)
})

test('consent: only administrators grant organization settings, never by default', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { place, organizationId } = await homeOf(server, server.organizationId)
  const mcp = { resource: `${server.url}/mcp`, prompt: 'consent' }
  const field = /<input\s+type="checkbox"\s+id="organization"[^>]*>/
  const request = asking(server, { ...mcp, scope: 'mcp:admin' })
  const { html } = await olga.get(request.path)
  t.regex(html, field)
  t.notRegex(field.exec(html)?.[0] ?? '', /checked/)
  t.regex(html, /More options[^]*Settings of the organization/)
  t.notRegex((await olga.get(asking(server).path)).html, field, 'REST reaches one project')

  const all = ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin']
  const wider = ['organization', 'all'] as const
  const agentOf = async (fields: readonly (readonly [string, string])[]) => {
    const { location } = await decide(olga, request.path, fields)
    const { body } = await exchange(server, request, location)
    return (await server.oauth.tokenCheck.agentPrincipal(String(body['access_token']))).agent
  }
  const less = await decide(olga, request.path, [...allowing(place, 'mcp:read'), wider])
  isRefused(t, less, 400, 'without the scope that changes settings')
  t.regex(less.html, /href="#scope">Settings of the organization require/)
  t.is((await agentOf(allowing(place, ...all)))?.reachesOrganization, undefined)
  t.notRegex((await olga.get('/account/applications')).html, /It can also change settings of the organization/)
  t.true((await agentOf([...allowing(place, ...all), wider]))?.reachesOrganization)
  t.regex((await olga.get('/account/applications')).html, /It can also change settings of the organization/)

  const dana = await signedIn(server, 'dana@example.ch')
  const { place: theirs } = await join(server, 'dana@example.ch', 'developer', organizationId)
  t.notRegex((await dana.get(request.path)).html, field)
  isRefused(t, await decide(dana, request.path, [...allowing(theirs, ...all), wider]), 400, 'a developer')
})

test('consent: foreign projects are not found, and an empty form is shown again', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const eve = await signedIn(server, 'eve@example.ch')
  const [own, home] = [await homeOf(server, server.organizationId), await join(server, 'eve@example.ch', 'owner')]
  const { path: asked } = asking(server)
  t.notRegex((await eve.get(asked)).html, new RegExp(own.organizationId))
  const none = await decide(eve, asked, allowing('org_none.prj_none', 'api:read'))
  for (const place of [
    own.place,
    `${own.organizationId}.new`,
    `${home.organizationId}.${own.projectId}`,
    `${home.organizationId}.prj_none`,
  ]) {
    const taken = await decide(eve, asked, allowing(place, 'api:read'))
    isRefused(t, taken, none.status, place)
  }
  t.is(none.status, 404)
  for (const [fields, fault] of [
    [[['decision', 'allow']], /Choose where the application may work/],
    [allowing(home.place), /Select at least one permission/],
    [allowing(home.place, 'mcp:read'), /Select at least one permission/],
    [allowing(home.place, 'api:admin'), /Each permission includes those above it/],
    [allowing(`${home.organizationId}.new`, 'api:read'), /Enter a name on one line/],
    [[...allowing(`${home.organizationId}.new`, 'api:read'), ['name', 'Default']], /A project with this name already exists/],
  ] as const) {
    const shown = await decide(eve, asked, fields)
    isRefused(t, shown, 400, String(fault))
    t.regex(shown.html, fault)
  }
  t.is((await decide(olga, asked, allowing(own.place, 'api:none'))).status, 400)
})

test('consent: a repeated form creates one project', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const request = asking(server)
  const fields = [...allowing(`${server.organizationId}.new`, 'api:read'), ['name', ' Shop ']] as const
  const allowed = await decide(olga, request.path, fields)
  const { body } = await exchange(server, request, allowed.location)
  const { projectId } = await server.oauth.tokenCheck.bearer(String(body['access_token']), 'rest')
  t.like(await server.database.get(projects, { organizationId: server.organizationId }, projectId), {
    record: { name: 'Shop', status: 'claimed' },
  })
  const again = await decide(olga, request.path, fields)
  isRefused(t, again, 400, 'replayed')
  t.regex(again.html, /A project with this name already exists\. Choose it from the list/)
  t.is(await projectCount(server), 2)
})

test('consent: foreign forms and wrong tokens are refused', async (t) => {
  const server = await startPageServer(t)
  const [olga, eve] = [await signedIn(server, 'olga@example.ch'), await signedIn(server, 'eve@example.ch')]
  const { path: asked } = asking(server)
  const { place } = await homeOf(server, server.organizationId)
  const form = (csrf: string) =>
    new URLSearchParams([...allowing(place, 'api:read').map(([name, value]): [string, string] => [name, value]), ['csrf', csrf]])
  const csrf = await olga.csrf('/account/applications')
  isRefused(t, await olga.post(asked, form('')), 403, 'no token')
  isRefused(t, await olga.post(asked, form(await eve.csrf('/account/applications'))), 403, 'the token of another session')
  for (const headers of [{}, { origin: 'https://evil.example' }, { origin: server.url, 'sec-fetch-site': 'cross-site' }])
    isRefused(t, await olga.post(asked, form(csrf), headers), 403, JSON.stringify(headers))
  const refused = await olga.post(asked, form(''))
  t.regex(refused.html, /<title>Not allowed/)
  const outsider = new PageClient(server)
  t.regex((await outsider.post(asked, form(csrf))).location, /^\/sign-in\?next=/)
  t.is((await olga.post(asked, form(csrf))).status, 303)
})

test('consent: a code works once; its second use ends the grant', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const request = asking(server)
  const { location } = await decide(olga, request.path, allowing((await homeOf(server, server.organizationId)).place, 'api:read'))
  t.is((await exchange(server, request, location)).status, 200)
  t.is((await exchange(server, request, location)).status, 400)
  t.regex((await olga.get('/account/applications')).html, /No application has access/)
})

test('consent: prompt=none shows no page; only verified web clients are remembered', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const home = await homeOf(server, server.organizationId)
  const silently = async (pageClient: PageClient, changes = {}): Promise<string> => {
    const { location } = await pageClient.get(asking(server, { prompt: 'none', ...changes }).path)
    return told(location).get('error') ?? (told(location).has('code') ? 'code' : location)
  }
  t.is(await silently(new PageClient(server)), 'login_required')
  t.is(await silently(olga), 'consent_required')
  const allow = async (changes = {}, place = home.place): Promise<void> => {
    const request = asking(server, { prompt: 'consent', ...changes })
    const { location } = await decide(olga, request.path, allowing(place, 'api:read'))
    t.is((await exchange(server, request, location)).status, 200)
  }
  await allow()
  t.is(await silently(olga), 'code')
  t.is(await silently(olga, { scope: '' }), 'code')
  t.is(await silently(olga, { scope: 'api:send' }), 'consent_required')
  t.is(await silently(olga, { redirect_uri: loopbackRedirect }), 'consent_required')
  t.is(await silently(await signedIn(server, 'eve@example.ch')), 'consent_required')
  t.is((await olga.get(asking(server).path)).status, 303)
  t.is((await olga.get(asking(server, { prompt: 'consent' }).path)).status, 200)
  t.is((await olga.get(asking(server, { prompt: 'select_account' }).path)).status, 200)

  const outsider = await registered(server)
  await allow({ client_id: outsider })
  t.is(await silently(olga, { client_id: outsider }), 'consent_required', 'not verified')
  const other = await join(server, 'olga@example.ch', 'owner')
  await allow({}, other.place)
  t.is(await silently(olga), 'consent_required', 'two projects')
})

test('consent: a remembered one ends with role, project, grant and time', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const ben = await signedIn(server, 'ben@example.ch')
  const { place, organizationId } = await join(server, 'ben@example.ch', 'developer', server.organizationId)
  const scopes = ['api:read', 'api:send'] as const
  const silently = async (): Promise<string> => {
    const { location } = await ben.get(asking(server, { prompt: 'none', scope: scopes.join(' ') }).path)
    return told(location).get('error') ?? 'code'
  }
  const allow = async (where: string): Promise<void> => {
    const request = asking(server, { prompt: 'consent' })
    const { location } = await decide(ben, request.path, allowing(where, ...scopes))
    t.is((await exchange(server, request, location)).status, 200)
  }
  await allow(place)
  t.is(await silently(), 'code')
  const asOwner = await principalOf(server, olga)
  const { holder } = await principalOf(server, ben)
  const benId = holder?.kind === 'user' ? holder.userId : ''
  await server.people.members.changeRole(asOwner, benId, 'viewer')
  t.is(await silently(), 'consent_required', 'a lower role')
  await server.people.members.changeRole(asOwner, benId, 'developer')
  t.is(await silently(), 'code')
  await ben.send('/account/applications', '/account/applications/revoke', {
    ...{ client: vouchedFor, organization: organizationId, project: place.split('.')[1] ?? '' },
  })
  t.is(await silently(), 'consent_required', 'revoked')

  const { project } = await server.projects.create(asOwner, { name: 'Shop' })
  await allow(`${organizationId}.${project.id}`)
  t.is(await silently(), 'code')
  await server.projects.remove(asOwner, project.id, { discardQueued: true })
  t.is(await silently(), 'consent_required', 'the project is deleted')
  await allow(place)
  t.is(await silently(), 'code')
  await server.people.members.remove(asOwner, benId)
  t.is(await silently(), 'consent_required', 'no longer a member')
  t.regex((await ben.get('/account/applications')).html, /No application has access/)
  await join(server, 'ben@example.ch', 'developer', organizationId)
  t.is(await silently(), 'consent_required', 'a member again, without a consent')
  await allow(place)
  t.is(await silently(), 'code')
  server.clock.advance(180 * 86_400_000)
  await ben.signIn('ben@example.ch')
  t.is(await silently(), 'consent_required', 'the grant is over')
})

test('consent: granting changes of settings requires a recent sign-in', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { place } = await homeOf(server, server.organizationId)
  server.clock.advance(10 * 60_000)
  for (const [resource, ...scopes] of [
    [`${server.url}/v1`, 'api:read', 'api:send', 'api:admin'],
    [`${server.url}/mcp`, 'mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin'],
  ] as const) {
    const request = asking(server, { resource, scope: scopes.join(' '), prompt: 'consent' })
    const { location } = await decide(olga, request.path, allowing(place, ...scopes))
    const search = new URL(location, server.url).searchParams
    t.is(search.get('again'), '1')
    t.true(search.get('next')?.startsWith(`${request.path}&choices=`), scopes.join(' '))
  }
  t.regex((await olga.get('/account/applications')).html, /No application has access/)
  const less = asking(server, { scope: 'api:send', prompt: 'consent' })
  t.truthy(told((await decide(olga, less.path, allowing(place, 'api:read', 'api:send'))).location).get('code'))
  await olga.signIn('olga@example.ch')
  const more = asking(server, { scope: 'api:admin', prompt: 'consent' })
  t.truthy(told((await decide(olga, more.path, allowing(place, 'api:read', 'api:send', 'api:admin'))).location).get('code'))
})

test('consent: an unknown client or redirect URI gets a page without a redirect', async (t) => {
  const server = await startPageServer(t)
  const pageClient = new PageClient(server)
  for (const changes of [{ client_id: 'nobody' }, { redirect_uri: 'https://evil.example/back' }]) {
    const shown = await pageClient.get(asking(server, changes).path)
    isRefused(t, shown, 400, JSON.stringify(changes))
    t.regex(shown.html, /<title>Invalid request – Postern/)
    t.notRegex(shown.html, /evil\.example/)
  }
})

test('applications: listed per project; revoking ends all tokens at once', async (t) => {
  const server = await startPageServer(t)
  const [olga, eve] = [await signedIn(server, 'olga@example.ch'), await signedIn(server, 'eve@example.ch')]
  const { place, organizationId, projectId } = await homeOf(server, server.organizationId)
  await join(server, 'eve@example.ch', 'admin', organizationId)
  const tokens: string[] = []
  for (const scopes of [['api:read'], ['api:read', 'api:send']]) {
    const request = asking(server, { scope: scopes.join(' '), prompt: 'consent' })
    const { location } = await decide(olga, request.path, allowing(place, ...scopes))
    tokens.push(String((await exchange(server, request, location)).body['access_token']))
  }
  const { html } = await olga.get('/account/applications')
  t.is(count(html, /<h3>Nightly &lt;report&gt;/g), 1)
  t.regex(html, /client\.example\.net[^]*In the project Default of Default, since[^]*Permissions: read, send real mail \(REST\)/)
  t.regex((await eve.get('/account/applications')).html, /No application has access/)

  const form = { client: vouchedFor, organization: organizationId, project: projectId }
  await eve.send('/account/applications', '/account/applications/revoke', form)
  t.is((await olga.post('/account/applications/revoke', form)).status, 403)
  for (const token of tokens) await t.notThrowsAsync(server.oauth.tokenCheck.bearer(token, 'rest'))
  const done = await olga.send('/account/applications', '/account/applications/revoke', form)
  t.is(done.location, '/account/applications?done=application_revoked')
  for (const token of tokens) await t.throwsAsync(server.oauth.tokenCheck.bearer(token, 'rest'))
  t.regex((await olga.get(done.location)).html, /The access is revoked[^]*No application has access/)
})
