/** Requests whose key or token ends while they are in progress. */
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from '#test'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { grantStands } from '#core/oauth/grants/grant.ts'
import { startOAuth, webClientId, type OAuthFixture } from '../../oauth/oauth-fixture.ts'
import { errorOf } from '../fixture/rest-fixture.ts'

const everything = 'api:read api:send api:admin'

async function signIn(fixture: OAuthFixture, email: string) {
  const userId = await fixture.addMember(email, 'developer')
  const tokens = await fixture.signIn({ scope: everything }, { user: userId, scopes: everything })
  return { userId, token: String(tokens['access_token']), refreshToken: String(tokens['refresh_token']) }
}

/** Starts a request and sends its body only after the service asks for it with `100 Continue`. */
async function begin(t: ExecutionContext, { address }: OAuthFixture, secret: string, path: string, body: object) {
  const [host = '', port] = address.split(':')
  const socket = connect(Number(port), host)
  t.teardown(() => socket.destroy())
  const text = JSON.stringify(body)
  const head = [`POST ${path} HTTP/1.1`, 'Host: x', 'Connection: close', 'Expect: 100-continue', `Authorization: Bearer ${secret}`]
  socket.write([...head, 'Content-Type: application/json', `Content-Length: ${text.length}`, '', ''].join('\r\n'))
  t.regex(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /)
  return async (): Promise<string> => {
    socket.write(text)
    let answer = ''
    for await (const piece of socket) answer += String(piece)
    return answer
  }
}

test('a request without its whole body is refused after its key, grant or member ends', async (t) => {
  const fixture = await startOAuth(t)
  const [application, member] = [await signIn(fixture, 'dev@example.ch'), await signIn(fixture, 'other@example.ch')]
  const key = await fixture.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  const ofMember = await fixture.client(member.token).must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  const ends: readonly [secret: string, end: () => Promise<unknown>][] = [
    [application.token, () => fixture.post('/oauth/revoke', { token: application.refreshToken, client_id: webClientId })],
    [String(key['key']), () => fixture.rest.must('DELETE', `/v1/api-keys/${String(key['id'])}`)],
    [String(ofMember['key']), () => fixture.rest.must('DELETE', `/v1/members/${member.userId}`)],
  ]
  const names = async () => ((await fixture.rest.must('GET', '/v1/api-keys'))['data'] as { name: string }[]).map(({ name }) => name)
  const { id: form } = await fixture.rest.must('POST', '/v1/forms', { name: 'Contact' })
  for (const [secret, end] of ends) {
    const finish = [
      await begin(t, fixture, secret, `/v1/forms/${String(form)}/archive`, {}),
      await begin(t, fixture, secret, '/v1/api-keys', { name: 'late', scopes: ['api:read'] }),
      await begin(t, fixture, secret, '/v1/smtp-credentials', { label: 'late' }),
      await begin(t, fixture, secret, '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.org', text: 'late' }),
    ]
    await end()
    for (const answer of await Promise.all(finish.map((go) => go()))) t.regex(answer, /^HTTP\/1\.1 401 /)
  }
  t.false((await names()).includes('late'))
  t.like(await fixture.rest.must('GET', `/v1/forms/${String(form)}`), { status: 'draft' })
  t.deepEqual((await fixture.rest.must('GET', '/v1/smtp-credentials'))['data'], [])
  t.deepEqual((await fixture.rest.must('GET', '/v1/traces'))['data'], [])
})

test('an import without its rows is refused after its key ends', async (t) => {
  const fixture = await startOAuth(t)
  const { id, key } = await fixture.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:admin'] })
  const finish = await begin(t, fixture, String(key), '/v1/suppressions/bulk-import', { rows: [{ email: 'ada@example.org' }] })
  await fixture.rest.must('DELETE', `/v1/api-keys/${String(id)}`)
  t.regex(await finish(), /^HTTP\/1\.1 401 /)
  t.deepEqual((await fixture.rest.must('GET', '/v1/suppressions'))['data'], [])
})

test('a wait for mail ends with unauthorized after its key ends', async (t) => {
  const fixture = await startOAuth(t)
  const { id, key } = await fixture.rest.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  const [inbox] = (await fixture.rest.must('GET', '/v1/inboxes'))['data'] as { id: string }[]
  const waiting = fixture.client(String(key)).call('POST', `/v1/inboxes/${inbox?.id ?? ''}/wait`)
  await fixture.waits(fixture.projectId, 1)
  await fixture.rest.must('DELETE', `/v1/api-keys/${String(id)}`)
  await fixture.rest.must('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.org', text: 'Secret' })
  t.is(errorOf(await waiting).code, 'unauthorized')
})

test("createApiKey creates nothing if the caller's key ends between check and write", async (t) => {
  const fixture = await startOAuth(t)
  const { parts, server, database } = fixture
  const keys = new ApiKeys({ ...parts, grantStands: grantStands(database) })
  const application = await signIn(fixture, 'dev@example.ch')
  const principal = await server.tokenCheck.restPrincipal(application.token)
  const child = await keys.create(principal, { name: 'child', scopes: ['api:admin'] })
  const ofChild = await keys.authenticate(child.key)
  const own = await keys.authenticate(
    (await keys.create(await keys.authenticate(await adminKey(fixture)), { name: 'own', scopes: ['api:admin'] })).key,
  )
  const late = { name: 'late', scopes: ['api:read'] } as const
  await server.grants.revoke(principal.credentialId, { kind: 'operator', id: '' })
  await keys.revoke(own, own.credentialId)
  // Simulates requests that passed the credential check before the credential ended.
  const outcomes = await Promise.allSettled([
    ...[principal, ofChild, own].map((principal) => keys.create(principal, late)),
    ...[principal, ofChild].map((principal) => keys.rotate(principal, child.record.id)),
  ])
  t.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as { code: string }).code),
    ['unauthorized', 'unauthorized', 'unauthorized', 'conflict', 'conflict'],
  )
})

const adminKey = async ({ rest }: OAuthFixture): Promise<string> =>
  String((await rest.must('POST', '/v1/api-keys', { name: 'admin', scopes: ['api:admin'] }))['key'])
