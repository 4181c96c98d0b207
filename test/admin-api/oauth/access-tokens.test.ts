/** Access tokens at the REST API: valid and invalid tokens, and how soon a revoked token is refused. */
import { createPublicKey } from 'node:crypto'
import test from '#test'
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'
import { SigningKeys } from '#core/oauth/tokens/signing-keys.ts'
import { runCases, type Case } from './outcome.ts'
import { issuer, mcpResource, restResource, startOAuth, type OAuthFixture } from './oauth-fixture.ts'

const type = 'at+jwt'

interface Forgery {
  readonly claims?: (now: number) => Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly key?: CryptoKey | Uint8Array
}

/** Returns the claims of a valid token with an active grant. */
async function claimsOf(fixture: OAuthFixture): Promise<JWTPayload> {
  const { access_token: token } = await fixture.signIn()
  return JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString()) as JWTPayload
}

const seconds = ({ clock }: OAuthFixture): number => Math.floor(clock.now() / 1000)

/** Returns a token with the service's signature and changed claims. */
const forged =
  ({ claims = () => ({}), header = {}, key }: Forgery) =>
  async (fixture: OAuthFixture): Promise<string> => {
    const own = await new SigningKeys(fixture.parts).current()
    const payload = { ...(await claimsOf(fixture)), ...claims(seconds(fixture)) }
    const defined = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined)) as JWTPayload
    const token = await new SignJWT(defined)
      .setProtectedHeader({ alg: 'ES256', typ: type, kid: own.kid, ...header })
      .sign(key ?? own.key, { crit: { 'urn:example:odd': true } })
    return called(fixture, token)
  }

const called = async (fixture: OAuthFixture, token: string): Promise<string> => {
  const { status, body } = await fixture.callRest(token)
  return status === 200 ? '200' : `${status} ${(body['error'] as { code: string }).code}`
}

const refused = '401 unauthorized'

const forgeries: readonly Case[] = [
  ['unchanged claims', '200', forged({})],
  ['the audience of MCP', refused, forged({ claims: () => ({ aud: mcpResource }) })],
  ['our audience among others', refused, forged({ claims: () => ({ aud: [restResource, mcpResource] }) })],
  ['our audience in a list', refused, forged({ claims: () => ({ aud: [restResource] }) })],
  ['no audience', refused, forged({ claims: () => ({ aud: undefined }) })],
  ['another issuer', refused, forged({ claims: () => ({ iss: 'https://other.example' }) })],
  ['the issuer with a slash', refused, forged({ claims: () => ({ iss: `${issuer}/` }) })],
  ['expired within the skew', '200', forged({ claims: (now) => ({ iat: now - 3600, exp: now - 29 }) })],
  ['expired', refused, forged({ claims: (now) => ({ iat: now - 3000, exp: now - 31 }) })],
  ['no expiry', refused, forged({ claims: () => ({ exp: undefined }) })],
  ['older than the token lifetime', refused, forged({ claims: (now) => ({ iat: now - 7200, exp: now + 60 }) })],
  ['of the near future', '200', forged({ claims: (now) => ({ iat: now + 29 }) })],
  ['of the future', refused, forged({ claims: (now) => ({ iat: now + 31 }) })],
  ['not valid yet', refused, forged({ claims: (now) => ({ nbf: now + 31 }) })],
  ['no time of issue', refused, forged({ claims: () => ({ iat: undefined }) })],
  ['no subject', refused, forged({ claims: () => ({ sub: undefined }) })],
  ['no id', refused, forged({ claims: () => ({ jti: undefined }) })],
  ['no client', refused, forged({ claims: () => ({ client_id: undefined }) })],
  ['no grant', refused, forged({ claims: () => ({ gid: undefined }) })],
  ['an unknown grant', refused, forged({ claims: () => ({ gid: 'grt_none' }) })],
  ['the type of an ID token', refused, forged({ header: { typ: 'JWT' } })],
  ['no type', refused, forged({ header: { typ: undefined } })],
  ['an unknown key', refused, forged({ header: { kid: 'none' } })],
  ['no key id', refused, forged({ header: { kid: undefined } })],
  ['a critical extension', refused, forged({ header: { crit: ['urn:example:odd'], 'urn:example:odd': 1 } })],
  ['the key in the token', refused, async (fixture) => selfSigned(fixture, true)],
  ['our key id on another key', refused, async (fixture) => selfSigned(fixture, false)],
  ['no signature', refused, async (fixture) => called(fixture, new UnsecuredJWT(await claimsOf(fixture)).encode())],
  ['the public key as a shared secret', refused, async (fixture) => confused(fixture)],
  ['changed after signing', refused, async (fixture) => called(fixture, await tampered(fixture))],
  ['cut off', refused, async (fixture) => called(fixture, String((await fixture.signIn())['access_token']).slice(0, -3))],
]

async function selfSigned(fixture: OAuthFixture, isInside: boolean): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = createPublicKey(await exportSPKI(publicKey)).export({ format: 'jwk' }) as JWK
  return forged({ key: privateKey, header: isInside ? { jwk } : {} })(fixture)
}

/** RFC 8725 §2.1. */
async function confused(fixture: OAuthFixture): Promise<string> {
  const [published] = await fixture.server.signingKeys.published()
  const pem = await exportSPKI((await importJWK(published ?? {}, 'ES256', { extractable: true })) as CryptoKey)
  return forged({ key: Buffer.from(pem), header: { alg: 'HS256' } })(fixture)
}

async function tampered(fixture: OAuthFixture): Promise<string> {
  const [header, , signature] = String((await fixture.signIn({ scope: 'api:read' }))['access_token']).split('.')
  const claims = { ...(await claimsOf(fixture)), scope: 'api:admin' }
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
}

test('REST: accepts only valid tokens of this service for REST', async (t) => {
  await runCases(t, await startOAuth(t), forgeries)
})

test('REST: refuses tokens of other surfaces, and treats other texts as API keys', async (t) => {
  const fixture = await startOAuth(t)
  const rest = String((await fixture.signIn())['access_token'])
  const mcp = String((await fixture.signIn({ resource: mcpResource }))['access_token'])
  const message = 'This access token is unknown, expired, revoked or for another service; get a new one from the authorization server.'
  const reply = await fixture.callRest(mcp)
  t.is(reply.status, 401)
  t.like(reply.body['error'], { code: 'unauthorized', message, next_action: 'authenticate' })
  await t.throwsAsync(fixture.server.tokenCheck.bearer(rest, 'mcp'), { message })
  t.is((await fixture.server.tokenCheck.bearer(mcp, 'mcp')).grantId.slice(0, 4), 'grt_')
  t.is((await fixture.callRest(rest)).status, 200)
  await t.throwsAsync(fixture.server.tokenCheck.bearer(rest, 'mcp'), { message }, 'also after its own surface accepted it')
  const junk = await fixture.callRest('some.thing.else')
  t.like(junk.body['error'], { message: 'This API key is unknown, expired or revoked; use an active one.' })
})

test('access token: expires, also if it was cached', async (t) => {
  const fixture = await startOAuth(t)
  const { access_token: token } = await fixture.signIn()
  fixture.clock.advance(3_599_000)
  t.is((await fixture.callRest(token)).status, 200)
  fixture.clock.advance(32_000)
  t.is((await fixture.callRest(token)).status, 401)
})

test('access token: role changes, leaving and returning apply at once', async (t) => {
  const fixture = await startOAuth(t)
  const { access_token: token } = await fixture.signIn({ scope: 'api:admin' })
  const mint = () => fixture.callRest(token, '/v1/api-keys', 'POST', { name: 'x', scopes: ['api:read'] })
  t.is((await mint()).status, 201)
  await fixture.setRole('viewer')
  t.like(await mint(), { status: 403, body: { error: { message: 'This requires the scope api:admin; the token has api:read.' } } })
  t.is((await fixture.callRest(token)).status, 200)
  await fixture.setRole(undefined)
  t.is((await fixture.callRest(token)).status, 401)
  await fixture.setRole('admin')
  t.is((await mint()).status, 201)
})

test('access token: reaches only its project, and traces name the grant', async (t) => {
  const fixture = await startOAuth(t)
  const other = await fixture.addProject()
  const { access_token: token } = await fixture.signIn({ scope: 'api:admin' }, { project: other })
  t.like((await fixture.callRest(token)).body, { project_id: other })
  const message = { from: 'a@example.ch', to: 'b@example.ch', subject: 'x', text: 'y' }
  const elsewhere = await fixture.callRest(token, '/v1/messages', 'POST', { ...message, project_id: fixture.projectId })
  t.is(elsewhere.status, 404)
  const sent = await fixture.callRest(token, '/v1/messages', 'POST', message)
  const trace = await fixture.callRest(token, `/v1/traces/${String(sent.body['trace_id'])}`)
  const { grantId } = await fixture.server.tokenCheck.bearer(String(token), 'rest')
  t.true(JSON.stringify(trace.body).includes(grantId))
  const key = await fixture.callRest(token, '/v1/api-keys', 'POST', { name: 'x', scopes: ['api:read'] })
  t.is(key.body['project_id'], other, 'a key that it creates is limited to the project too')
})
