import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { toTarget } from '#core/delivery/attempt/transport-target.ts'
import { destinations } from '#core/routing/destination.ts'
import { errorOf, objectOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const username = 'shop@example.ch'
const secrets = new SecretBox(Buffer.alloc(32, 7))

const create = ({ rest }: Fixture, preset: string, oauth2: object, more: object = {}) =>
  rest.call('POST', '/v1/destinations', { name: 'Mailbox', provider: 'smtp', preset, credentials: { username, oauth2, ...more } })

const grantOf = async ({ database, organizationId }: Fixture, id: unknown) => {
  const stored = await database.get(destinations, { organizationId }, String(id))
  const target = stored && toTarget(stored.record, secrets)
  return target?.provider === 'smtp' ? target.oauth2 : undefined
}

test('createDestination: Microsoft 365 needs mailbox, tenant, client; shows no secret', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, 'microsoft365', { tenant: 'example.ch', client_id: 'app', client_secret: 'hidden-1' })
  t.is(made.status, 201)
  const tokenUrl = 'https://login.microsoftonline.com/example.ch/oauth2/v2.0/token'
  const scope = 'https://outlook.office365.com/.default'
  t.deepEqual(objectOf(made)['credentials'], {
    host: 'smtp.office365.com',
    port: 587,
    security: 'starttls',
    tls_policy: 'verify',
    username,
    has_password: false,
    oauth2: { token_url: tokenUrl, client_id: 'app', scope, grant: 'client_credentials' },
  })
  t.deepEqual(await grantOf(fixture, objectOf(made)['id']), { tokenUrl, clientId: 'app', scope, clientSecret: 'hidden-1' })
  await fixture.closeStore()
  const entries = await readdir(fixture.folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(entries.filter((one) => one.isFile()).map((one) => readFile(join(one.parentPath, one.name))))
  t.true(files.some((file) => file.includes('login.microsoftonline.com')))
  t.false(files.some((file) => file.includes('hidden-1')))
})

test('createDestination for Google takes only a refresh token', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, 'google-workspace', { client_id: 'app', client_secret: 'hidden-1', refresh_token: 'hidden-2' })
  t.like(objectOf(made)['credentials'], {
    host: 'smtp.gmail.com',
    oauth2: { token_url: 'https://oauth2.googleapis.com/token', client_id: 'app', scope: null, grant: 'refresh_token' },
  })
  t.false(JSON.stringify(made.body).includes('hidden'))
  t.like(await grantOf(fixture, objectOf(made)['id']), { clientSecret: 'hidden-1', refreshToken: 'hidden-2' })
  t.deepEqual(refusal(await create(fixture, 'gmail', { client_id: 'app', client_secret: 'hidden-1' })), [
    400,
    'validation_failed',
    'credentials.oauth2.refresh_token: is required: this provider issues mailbox tokens only for a refresh token',
  ])
})

test('createDestination names invalid fields of credentials.oauth2', async (t) => {
  const fixture = await startFixture(t)
  const wrong = async (preset: string, oauth2: object, more: object = {}) => errorOf(await create(fixture, preset, oauth2, more)).message
  const client = { client_id: 'app', client_secret: 'x' }
  t.is(await wrong('microsoft365', client), tenantNeeded)
  t.is(await wrong('microsoft365', { ...client, tenant: 'common' }), tenantNeeded)
  t.regex(await wrong('microsoft365', { ...client, tenant: 'a/b' }), /^credentials\.oauth2\.tenant: must be the id of the tenant/)
  t.regex(
    await wrong('microsoft365', { client_id: 'app', tenant: 'a.ch' }),
    /^credentials\.oauth2\.client_secret: is required without refresh_token/,
  )
  t.regex(await wrong('gmail', { ...client, refresh_token: 'x', tenant: 'a.ch' }), /^credentials\.oauth2\.tenant: must be omitted/)
  t.is(await wrong('infomaniak', client), 'credentials.oauth2.token_url: is required: there is no default for mail.infomaniak.com')
  t.is(await wrong('microsoft365', client, { password: 'x' }), 'credentials.oauth2: replaces password; give only one of them')
  t.regex(await wrong('microsoft365', client, { username: undefined }), /^credentials\.username: is required with oauth2/)
  const url = (token_url: string) => wrong('infomaniak', { ...client, token_url })
  const https = 'credentials.oauth2.token_url: must be an https URL without user name and fragment'
  for (const bad of ['http://mail.example.ch/t', 'https://a:b@mail.example.ch/t', 'https://mail.example.ch/t#x', 'token'])
    t.is(await url(bad), https)
  t.regex(await url('https://inside.example.ch/t'), /^credentials\.oauth2\.token_url: resolves to a loopback or private address/)
  t.regex(await url('https://[::1]/t'), /^credentials\.oauth2\.token_url: resolves to a loopback or private address/)
  t.is(await url('https://mail.example.ch:8443/t'), 'credentials.oauth2.token_url: must be on port 443')
  t.is((await create(fixture, 'infomaniak', { ...client, token_url: 'https://127.0.0.1:8443/t' })).status, 201)
})
const tenantNeeded = 'credentials.oauth2.tenant: is required with client credentials: the id of the tenant or one of its domains'

test('updateDestination: keeps, replaces or clears a grant, never for a new host', async (t) => {
  const fixture = await startFixture(t)
  const made = await create(fixture, 'google-workspace', { client_id: 'app', refresh_token: 'hidden-2' })
  const id = String(objectOf(made)['id'])
  const patch = (credentials: object) => fixture.rest.call('PATCH', `/v1/destinations/${id}`, { credentials })
  t.like(objectOf(await patch({ username: 'other@example.ch' }))['credentials'], { oauth2: { client_id: 'app' } })
  t.like(await grantOf(fixture, id), { refreshToken: 'hidden-2' })
  t.is(
    errorOf(await patch({ host: 'mail.example.ch' })).message,
    'credentials.oauth2: give it again: a stored OAuth 2.0 grant is not reused with another host, port, security or tls_policy',
  )
  await patch({ oauth2: { client_id: 'app', refresh_token: 'hidden-3' } })
  t.like(await grantOf(fixture, id), { refreshToken: 'hidden-3' })
  const byPassword = objectOf(await patch({ password: 'secret' }))['credentials'] as Record<string, unknown>
  t.like(byPassword, { has_password: true })
  t.false('oauth2' in byPassword)
  t.is(await grantOf(fixture, id), undefined)
  t.like(objectOf(await patch({ oauth2: { client_id: 'new', refresh_token: 'x' } }))['credentials'], { has_password: false })
  t.regex(errorOf(await patch({ oauth2: null })).message, /^credentials\.password: is required with the other/)
  const cleared = objectOf(await patch({ username: null, password: null }))['credentials'] as Record<string, unknown>
  t.like(cleared, { username: null, has_password: false })
  t.false('oauth2' in cleared)
})

test('listDestinationPresets describes the sign-in, and a fixed user name is filled in', async (t) => {
  const { rest } = await startFixture(t)
  const { data } = await rest.must('GET', '/v1/destinations/presets')
  const preset = (id: string) => (data as Record<string, unknown>[]).find((one) => one['id'] === id)
  t.deepEqual(
    ['gmail', 'google-workspace', 'microsoft365', 'outlook'].map((id) => [preset(id)?.['auth'], preset(id)?.['oauth2']]),
    [
      [['XOAUTH2', 'PLAIN', 'LOGIN'], { token_url: 'https://oauth2.googleapis.com/token', grants: ['refresh_token'] }],
      [['XOAUTH2', 'PLAIN', 'LOGIN'], { token_url: 'https://oauth2.googleapis.com/token', grants: ['refresh_token'] }],
      [['XOAUTH2', 'LOGIN'], { token_url: microsoft, grants: ['client_credentials', 'refresh_token'] }],
      [['XOAUTH2'], { token_url: microsoft, grants: ['refresh_token'] }],
    ],
  )
  t.like(preset('infomaniak'), { kind: 'webhoster', country: 'CH', username: 'full email address', fixed_username: null, oauth2: null })
  t.is(preset('sendgrid')?.['fixed_username'], 'apikey')
  const made = await rest.must('POST', '/v1/destinations', {
    name: 'S',
    provider: 'smtp',
    preset: 'sendgrid',
    credentials: { password: 'SG.x' },
  })
  t.like(made['credentials'], { host: 'smtp.sendgrid.net', port: 587, security: 'starttls', username: 'apikey', has_password: true })
})
const microsoft = 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token'
