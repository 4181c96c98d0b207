import test, { type ExecutionContext } from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { destinations, secretContext } from '#core/routing/destination.ts'
import { errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'

const ses = { access_key_id: 'AKIAEXAMPLE', secret_access_key: 'very secret', region: 'eu-central-1' }
const make = { name: 'SES', provider: 'ses', credentials: ses }

test('createDestination with an HTTP provider stores credentials by name and seals secrets', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const made = objectOf(await rest.call('POST', '/v1/destinations', make))
  t.like(made, { provider: 'ses', preset: null, mode: 'sandbox', max_connections: 10 })
  const shown = {
    access_key_id: 'AKIAEXAMPLE',
    has_secret_access_key: true,
    has_session_token: false,
    region: 'eu-central-1',
    base_url: null,
  }
  t.deepEqual(made['credentials'], shown)
  const path = `/v1/destinations/${String(made['id'])}`
  t.deepEqual((await rest.must('GET', path))['credentials'], shown)
  const record = (await database.get(destinations, { organizationId }, String(made['id'])))?.record
  if (record?.provider !== 'ses') return t.fail()
  t.false(JSON.stringify(record).includes(ses.secret_access_key))
  const sealed = record.sealedCredentials['secret_access_key'] ?? ''
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  t.is(secrets.open(sealed, secretContext(record.id, 'secret_access_key')), ses.secret_access_key)
  t.is(secrets.open(sealed, secretContext(record.id, 'session_token')), undefined)
})

const refused = test.macro({
  async exec(t: ExecutionContext, provider: string, credentials: object, message: string) {
    const { rest } = await startFixture(t)
    t.deepEqual(refusal(await rest.call('POST', '/v1/destinations', { name: 'X', provider, credentials })), [
      400,
      'validation_failed',
      message,
    ])
  },
  title: (_, provider, credentials) => `createDestination refuses ${provider} with ${JSON.stringify(credentials)}`,
})
const key = { api_key: 'SG.x' }
const privately = (allow: string): string =>
  `credentials.base_url: resolves to a loopback or private address that this service does not allow; to use it, start Postern with POSTERN_OUTBOUND_ALLOW=destinations=${allow}:443`
const notAnOrigin = 'credentials.base_url: must be an origin such as https://mail-api.example.ch, without path, query or user name'

test(refused, 'sendgrid', {}, 'credentials.api_key: is required: API key with the permission Mail Send.')
test(refused, 'sendgrid', { api_kye: 'x' }, 'credentials.api_kye: is not a known field; did you mean api_key?')
test(refused, 'sendgrid', { ...key, host: 'mail.example.ch' }, 'credentials.host: is not a known field')
test(refused, 'mailgun', { ...key, domain: 'x.ch', region: 'ue' }, 'credentials.region: must be one of us, eu')
test(refused, 'sendgrid', { ...key, base_url: 'https://10.0.0.1' }, privately('10.0.0.1'))
test(refused, 'sendgrid', { ...key, base_url: 'https://inside.example.ch' }, privately('ADDRESS'))
test(refused, 'sendgrid', { ...key, base_url: 'https://[::1]' }, privately('[::1]'))
test(refused, 'sendgrid', { ...key, base_url: 'https://169.254.169.254' }, privately('169.254.169.254'))
test(
  refused,
  'sendgrid',
  { ...key, base_url: 'http://mail.example.ch' },
  'credentials.base_url: must begin with https://, so that credentials are not sent in clear',
)
test(
  refused,
  'sendgrid',
  { ...key, base_url: 'http://nowhere.example.ch' },
  'credentials.base_url: must begin with https://, so that credentials are not sent in clear',
)
test(refused, 'sendgrid', { ...key, base_url: 'https://mail.example.ch:6379' }, 'credentials.base_url: must be on port 443 or 8443')
test(refused, 'sendgrid', { ...key, base_url: 'https://user:pw@mail.example.ch' }, notAnOrigin)
test(refused, 'sendgrid', { ...key, base_url: 'https://mail.example.ch/v3' }, notAnOrigin)
test(refused, 'sendgrid', { ...key, base_url: 'file:///etc/passwd' }, notAnOrigin)
test(refused, 'sendgrid', { ...key, base_url: 'mail.example.ch' }, notAnOrigin)

test('createDestination suggests a similar region or provider', async (t) => {
  const { rest } = await startFixture(t)
  const wrong = async (changes: object) => errorOf(await rest.call('POST', '/v1/destinations', { ...make, ...changes })).message
  t.regex(
    await wrong({ credentials: { ...ses, region: 'eu-centrl-1' } }),
    /^credentials\.region: must be one of us-east-1, .*; did you mean eu-central-1\?$/,
  )
  t.regex(await wrong({ provider: 'sendgrd' }), /^provider: must be one of smtp, ses, .*; did you mean sendgrid\?$/)
  t.regex(await wrong({ provider: 7 }), /^provider: must be one of smtp, ses, /)
  t.regex(await wrong({ provider: undefined }), /^provider: is required: one of smtp, ses, /)
  t.is(await wrong({ preset: 'ses' }), 'preset: is not a known field')
})

test('createDestination accepts an http endpoint if the operator allows the address', async (t) => {
  const { rest } = await startFixture(t)
  for (const base_url of [
    'http://127.0.0.1:4010',
    'https://mail.example.ch:8443',
    'https://MAIL.example.ch/',
    'https://nowhere.example.ch',
  ]) {
    const answer = await rest.call('POST', '/v1/destinations', { name: 'X', provider: 'sendgrid', credentials: { ...key, base_url } })
    t.is(answer.status, 201, base_url)
    t.like(objectOf(answer)['credentials'], { base_url: new URL(base_url).origin })
  }
})

test('updateDestination changes single credentials; a new base_url needs the secrets again', async (t) => {
  const { rest } = await startFixture(t)
  const { id } = await rest.must('POST', '/v1/destinations', make)
  const path = `/v1/destinations/${String(id)}`
  const change = async (credentials: object) => (await rest.must('PATCH', path, { credentials }))['credentials']
  const wrong = async (body: object) => errorOf(await rest.call('PATCH', path, body)).message
  t.like(await change({ region: 'us-east-1' }), { region: 'us-east-1', access_key_id: 'AKIAEXAMPLE', has_secret_access_key: true })
  t.like(await change({ session_token: 'temporary' }), { has_session_token: true })
  t.like(await change({ session_token: null }), { has_session_token: false, has_secret_access_key: true })
  const again = 'credentials.secret_access_key: give it again: a stored secret is not reused with another base_url'
  t.is(await wrong({ credentials: { base_url: 'https://mail.example.ch' } }), again)
  t.like(await change({ base_url: 'https://mail.example.ch', secret_access_key: 'new' }), { base_url: 'https://mail.example.ch' })
  t.is(await wrong({ credentials: { base_url: null } }), again)
  t.is(
    await wrong({ credentials: { secret_access_key: null } }),
    'credentials.secret_access_key: is required: The secret access key of that access key id.',
  )
  t.is(await wrong({ credentials: { host: 'mail.example.ch' } }), 'credentials.host: belongs to provider smtp; this destination is ses')
  t.is(await wrong({ preset: 'ses', credentials: {} }), 'preset: belongs to provider smtp; this destination is ses')
  t.is(
    await wrong({ credentials: { api_key: 'x' } }),
    'credentials.api_key: is not a credential of ses, which has access_key_id, secret_access_key, session_token, region and base_url',
  )
  t.like(await rest.must('PATCH', path, { name: 'Amazon' }), { name: 'Amazon', provider: 'ses' })
})

test('updateDestination refuses credentials of an HTTP provider for an SMTP server', async (t) => {
  const { rest } = await startFixture(t)
  const smtp = { name: 'S', provider: 'smtp', credentials: { host: '127.0.0.1', port: 2600, security: 'none' } }
  const { id } = await rest.must('POST', '/v1/destinations', smtp)
  const answer = await rest.call('PATCH', `/v1/destinations/${String(id)}`, { credentials: { api_key: 'x' } })
  t.deepEqual(refusal(answer), [400, 'validation_failed', 'credentials.api_key: is not a credential of provider smtp'])
})

test('listDestinationProviders lists the credentials of each provider', async (t) => {
  const { rest } = await startFixture(t)
  const listed = (await rest.must('GET', '/v1/destinations/providers'))['data'] as Record<string, unknown>[]
  t.deepEqual(column(listed.slice(0, 7), 'id'), ['smtp', 'ses', 'sendgrid', 'mailgun', 'postmark', 'resend', 'brevo'])
  const mailgun = listed.find(({ id }) => id === 'mailgun')
  t.like(mailgun, { name: 'Mailgun', takes: 'mime' })
  const fields = mailgun?.['credentials'] as Record<string, unknown>[]
  t.deepEqual(columns(fields, 'name', 'required', 'secret', 'choices'), [
    ['api_key', true, true, null],
    ['domain', true, false, null],
    ['region', false, false, ['us', 'eu']],
    ['base_url', false, false, null],
  ])
})

test('testSmtpCredential reports whether the provider gets the message unchanged', async (t) => {
  const { rest, transport } = await startFixture(t)
  const verbatim = async (provider: string, credentials: object) => {
    const { id } = await rest.must('POST', '/v1/destinations', { name: provider, provider, credentials })
    await rest.must('POST', `/v1/destinations/${String(id)}/promote-to-live`)
    const login = await rest.must('POST', '/v1/smtp-credentials', { label: provider, default_destination_id: id })
    const answer = await rest.must('POST', `/v1/smtp-credentials/${String(login['id'])}/test-connection`)
    return JSON.stringify(answer)
  }
  t.regex(await verbatim('ses', ses), /"adapter_forwards_verbatim","ok":true,"detail":"Amazon SES receives the message byte for byte/)
  t.regex(
    await verbatim('postmark', { server_token: 'token' }),
    /"adapter_forwards_verbatim","ok":false,"detail":"Postmark does not accept MIME/,
  )
  t.like(transport.probed.at(-1), { provider: 'postmark', credentials: { server_token: 'token' }, secrets: ['token'], baseUrl: undefined })
})
