/** An agent without an account, with the whole daemon: discovery, a sandbox by one call, and the same sandbox after a crash. */
import test from '#test'
import { Daemon, runCommand } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

type Json = Readonly<Record<string, unknown>>
const baseUrl = 'https://mail.example.ch'

test('OAuth: sandbox, tokens and keys survive a crash; an unknown request gets a page', async (t) => {
  const folder = await temporaryFolder('oauth')
  const options = {
    folder: folder.path,
    env: { POSTERN_BASE_URL: baseUrl, POSTERN_AUTH_URL: 'https://auth.example.ch', POSTERN_LOG_LEVEL: 'warn' },
  }
  let daemon = await Daemon.start(options)
  t.teardown(async () => {
    await daemon[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const get = async (path: string, token: unknown = '') => {
    const headers = token === '' ? {} : { authorization: `Bearer ${token as string}` }
    const response = await fetch(`http://${daemon.addresses.http}${path}`, { headers })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const post = async (path: string, fields: Readonly<Record<string, string>>) =>
    (await (await fetch(`http://${daemon.addresses.http}${path}`, { method: 'POST', body: new URLSearchParams(fields) })).json()) as Json

  const resource = (await get('/.well-known/oauth-protected-resource/v1')).body
  t.like(resource, { resource: `${baseUrl}/v1`, authorization_servers: ['https://auth.example.ch'] })
  t.like((await get('/.well-known/oauth-protected-resource/mcp')).body, { resource: `${baseUrl}/mcp` })
  const server = (await get('/.well-known/oauth-authorization-server')).body
  t.deepEqual(server['protected_resources'], [`${baseUrl}/mcp`, `${baseUrl}/v1`])
  t.is(server['token_endpoint'], 'https://auth.example.ch/oauth/token')
  const client_id = String(server['anonymous_bootstrap_client_id'])
  const made = await post('/oauth/token', { grant_type: 'client_credentials', client_id, resource: `${baseUrl}/v1` })
  t.like((await get('/v1/projects/me', made['access_token'])).body, { project_id: made['project_id'], status: 'anonymous' })
  const keys = await get('/.well-known/jwks.json')

  await daemon.kill()
  daemon = await Daemon.start(options, daemon.adminKey)
  t.deepEqual(await get('/.well-known/jwks.json'), keys)
  t.is((await get('/v1/projects/me', made['access_token'])).status, 200)
  const refresh = (token: unknown) => post('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token: String(token) })
  const next = await refresh(made['refresh_token'])
  t.is((await get('/v1/projects/me', next['access_token'])).status, 200)

  await daemon.kill()
  daemon = await Daemon.start(options, daemon.adminKey)
  t.like(await refresh(made['refresh_token']), { error: 'invalid_grant' }, 'used before the crash')
  t.is((await get('/v1/projects/me', next['access_token'])).status, 401)
  t.is((await get('/v1/projects/me', daemon.adminKey)).status, 200)
  const wrong = await fetch(`http://${daemon.addresses.http}/oauth/authorize?response_type=code`, { redirect: 'manual' })
  t.is(wrong.status, 400, 'a page, and no redirect to an unknown address')
  t.regex(await wrong.text(), /^<!doctype html>/)
  t.deepEqual(await daemon.stop(), { code: 0, signal: null })
  assertVerified(t, await runCommand(options, 'verify'))
})
