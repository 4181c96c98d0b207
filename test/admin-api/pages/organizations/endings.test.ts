/** Events that end the access of an application permanently, including unused codes and the access of returning members. */
import test, { type ExecutionContext } from '#test'
import { auditEntries } from '#core/writes/audit.ts'
import { userByEmail } from '#core/people/users/user.ts'
import {
  allowing,
  asking,
  decide,
  exchange,
  homeOf,
  join,
  signedIn,
  vouchedFor,
  type Asking,
  type Tokens,
  signedInServer,
} from '../consent-requests.ts'
import { type PageServer } from '../page-server.ts'
import type { PageClient } from '../page-client.ts'
import { column } from '../../../support/column.ts'

interface Approved {
  readonly request: Asking
  readonly location: string
}

/** Approves the client. Returns the code in its redirect. */
async function approve(server: PageServer, pageClient: PageClient, scopes: readonly string[] = ['api:read']): Promise<Approved> {
  const { place } = await homeOf(server, server.organizationId)
  const request = asking(server, { prompt: 'consent', scope: scopes.join(' ') })
  const { location } = await decide(pageClient, request.path, allowing(place, ...scopes))
  return { request, location }
}

const redeem = (server: PageServer, { request, location }: Approved): Promise<Tokens> => exchange(server, request, location)

async function refresh(server: PageServer, token: unknown): Promise<Tokens> {
  const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: vouchedFor, refresh_token: String(token) })
  const response = await fetch(`${server.url}/oauth/token`, { method: 'POST', body })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const refused = (t: ExecutionContext, { status, body }: Tokens, why: string): void => {
  t.is(`${status} ${String(body['error'])}`, '400 invalid_grant', why)
}

test('revocation: ends a code that was not used yet', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const { organizationId, projectId } = await homeOf(server, server.organizationId)
  const approved = await approve(server, olga)
  t.regex((await olga.get('/account/applications')).html, /Nightly &lt;report&gt;/, 'the application is listed from the approval on')
  await olga.send('/account/applications', '/account/applications/revoke', {
    client: vouchedFor,
    organization: organizationId,
    project: projectId,
  })
  refused(t, await redeem(server, approved), 'the code was issued before the revocation')
  t.is((await redeem(server, await approve(server, olga))).status, 200, 'a later approval works')
})

test('revocation: the page says that logins of the application remain', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  await redeem(server, await approve(server, olga))
  t.notRegex((await olga.get('/account/applications')).html, /keep working after you revoke/)
  await redeem(server, await approve(server, olga, ['api:read', 'api:send', 'api:admin']))
  t.regex(
    (await olga.get('/account/applications')).html,
    /SMTP credentials and publishable keys that it created keep working after you revoke its access/,
  )
})

/** Creates a key for the user with the application's token. */
async function mintByApplication(
  server: PageServer,
  { body }: Tokens,
  name: string,
): Promise<{ readonly id: string; readonly key: string }> {
  const principal = await server.oauth.tokenCheck.restPrincipal(String(body['access_token']))
  const { record, key } = await server.apiKeys.create(principal, { name, scopes: ['api:admin'] })
  return { id: record.id, key }
}

test('revocation: lists and revokes keys of the application, except checked ones', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const dev = await signedIn(server, 'dev@example.ch')
  const { organizationId, projectId } = await homeOf(server, server.organizationId)
  await join(server, 'dev@example.ch', 'developer', organizationId)
  const tokens = await redeem(server, await approve(server, dev, ['api:read', 'api:send', 'api:admin']))
  const [doomed, kept] = [await mintByApplication(server, tokens, 'Doomed'), await mintByApplication(server, tokens, 'Kept')]
  t.notRegex((await olga.get('/account/applications')).html, /Doomed/, 'of another user')
  const shown = (await dev.get('/account/applications')).html
  t.regex(shown, /These 2 API keys are revoked immediately, unless you keep them\./)
  t.regex(shown, new RegExp(`name="keep_key" value="${doomed.id}" />\\s*<span>Keep Doomed`))

  const form = { client: vouchedFor, organization: organizationId, project: projectId, keep_key: kept.id }
  const done = await dev.send('/account/applications', '/account/applications/revoke', form)
  t.is(done.location, '/account/applications?done=application_revoked')
  await t.throwsAsync(server.apiKeys.authenticate(doomed.key), { message: /unknown, expired or revoked/ })
  t.true((await server.apiKeys.authenticate(kept.key)).projectsOnly, 'it keeps the limit of its user')

  // and it ends with its user, unless an administrator keeps it
  const members = `/organizations/${organizationId}/members`
  const page = (await olga.get(members)).html
  t.regex(page, /This API key is revoked immediately, unless you keep it[^]*Keep Kept/)
  const { id: member = '' } = (await userByEmail(server.database, 'dev@example.ch'))?.record ?? {}
  t.is((await olga.send(members, `${members}/remove`, { member })).location, `${members}?done=removed`)
  await t.throwsAsync(server.apiKeys.authenticate(kept.key), { message: /unknown, expired or revoked/ })
})

test('member removal: a key that an administrator keeps remains valid', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const dev = await signedIn(server, 'dev@example.ch')
  const { organizationId } = await homeOf(server, server.organizationId)
  await join(server, 'dev@example.ch', 'developer', organizationId)
  const tokens = await redeem(server, await approve(server, dev, ['api:read', 'api:send', 'api:admin']))
  const kept = await mintByApplication(server, tokens, 'Kept')
  const members = `/organizations/${organizationId}/members`
  // a member who leaves cannot keep an own key
  const left = await dev.send(members, `/organizations/${organizationId}/leave`, { keep_key: kept.id })
  t.is(left.status, 403)
  t.regex((await dev.get(members)).html, /This API key is revoked immediately\.[^]*Kept/)
  const { id: member = '' } = (await userByEmail(server.database, 'dev@example.ch'))?.record ?? {}
  await olga.send(members, `${members}/remove`, { member, keep_key: kept.id })
  t.is((await dev.get(members)).status, 404)
  t.true((await server.apiKeys.authenticate(kept.key)).projectsOnly)
})

test('codes: an unused code leaves no access', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const approved = await approve(server, olga)
  server.clock.advance(60_000)
  refused(t, await redeem(server, approved), 'a minute old')
  t.regex((await olga.get('/account/applications')).html, /No application has access/)
})

test('member removal: a returning member has granted no application access', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const ben = await signedIn(server, 'ben@example.ch')
  await join(server, 'ben@example.ch', 'admin', server.organizationId)
  const benId = (await userByEmail(server.database, 'ben@example.ch'))?.record.id ?? ''
  const [tokens, olgas] = [await redeem(server, await approve(server, ben)), await redeem(server, await approve(server, olga))]
  const inFlight = await approve(server, ben)
  const members = `/organizations/${server.organizationId}/members`
  t.is((await olga.send(members, `${members}/remove`, { member: benId })).location, `${members}?done=removed`)
  await olga.send(members, `${members}/invite`, { email: 'ben@example.ch', role: 'admin' })
  const invitation = (await server.people.invitations.forAddress('ben@example.ch'))[0]?.invitation.id ?? ''
  const accepted = await ben.send('/organizations', '/invitations/accept', { organization: server.organizationId, invitation })
  t.is(accepted.location, '/organizations?done=accepted')

  await t.throwsAsync(server.oauth.tokenCheck.bearer(String(tokens.body['access_token']), 'rest'))
  refused(t, await refresh(server, tokens.body['refresh_token']), 'a refresh token of the earlier membership')
  refused(t, await redeem(server, inFlight), 'a code of the earlier membership')
  t.regex((await ben.get('/account/applications')).html, /No application has access/)
  t.is((await refresh(server, olgas.body['refresh_token'])).status, 200, 'other members keep their access')
})

test('refresh reuse: notifies the user once and is in the audit log', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const tokens = await redeem(server, await approve(server, olga, ['api:read', 'api:send', 'api:admin']))
  const { key } = await mintByApplication(server, tokens, 'Deploy-key')
  t.is((await refresh(server, tokens.body['refresh_token'])).status, 200)
  for (const _ of [1, 2, 3]) refused(t, await refresh(server, tokens.body['refresh_token']), 'used')
  const told = (await server.mails()).filter(({ to }) => to === 'olga@example.ch')
  t.deepEqual(column(told, 'subject'), ['The access of an application was revoked'])
  t.is(told[0]?.link, `${server.url}/account/applications`)
  t.regex(told[0]?.raw ?? '', /Nightly[^]*Deploy-key/)
  await t.throwsAsync(server.apiKeys.authenticate(key), { message: /unknown, expired or revoked/ })
  const acts = await server.database.all(auditEntries, { organizationId: server.organizationId })
  const ofGrants = acts.map(({ record }) => record).filter(({ act }) => act.startsWith('oauth_grant.'))
  t.deepEqual(
    ofGrants.map(({ act, actor, details }) => `${actor.kind} ${act} ${String(details['reason'] ?? details['client'])}`).toSorted(),
    ['service oauth_grant.revoked refresh token used twice', `user oauth_grant.created ${vouchedFor}`],
  )
})

test('project deletion: its applications get no tokens and must ask again', async (t) => {
  const { server, pageClient: olga } = await signedInServer(t, 'olga@example.ch')
  const olgaId = (await userByEmail(server.database, 'olga@example.ch'))?.record.id ?? ''
  const principal = await server.people.members.principalOf(olgaId, server.organizationId)
  const { project } = await server.projects.create(principal, { name: 'Shop' })
  const request = asking(server, { prompt: 'consent' })
  const place = `${server.organizationId}.${project.id}`
  const allow = async (): Promise<Approved> => ({
    request,
    location: (await decide(olga, request.path, allowing(place, 'api:read'))).location,
  })
  const tokens = await redeem(server, await allow())
  const inFlight = await allow()
  await server.projects.remove(principal, project.id, { discardQueued: true })
  refused(t, await refresh(server, tokens.body['refresh_token']), 'a refresh token')
  refused(t, await redeem(server, inFlight), 'a code')
})
