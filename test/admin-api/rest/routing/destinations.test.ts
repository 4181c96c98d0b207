import test, { type ExecutionContext } from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { destinations, passwordContext } from '#core/routing/destination.ts'
import { addDestination, errorOf, loopback, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const login = { username: 'shop@example.ch', password: 'correct horse' }
const none = [404, 'not_found', 'No destination has this id.'] as const

test('createDestination returns the resource in sandbox mode, without the password', async (t) => {
  const { rest } = await startFixture(t)
  const made = await rest.call('POST', '/v1/destinations', {
    name: 'Webhoster',
    provider: 'smtp',
    credentials: { host: 'Mail.Example.ch', port: 587, security: 'starttls', ...login },
    environment: 'production',
    priority: 5,
    from: 'Shop <shop@example.ch>',
    max_connections: 3,
    max_rate_per_min: 60,
  })
  t.is(made.status, 201)
  const { warnings, ...shown } = objectOf(made)
  t.deepEqual(warnings, [] as never)
  const { id, project_id, created_at, updated_at, ...rest_ } = shown
  t.regex(String(id), /^dst_[0-9a-f]{32}$/)
  t.is(project_id, (await rest.must('GET', '/v1/projects/me'))['project_id'])
  t.is(created_at, updated_at)
  t.deepEqual(rest_, {
    name: 'Webhoster',
    provider: 'smtp',
    preset: null,
    environment: 'production',
    priority: 5,
    mode: 'sandbox',
    scope: 'project',
    is_org_default: false,
    movable: true,
    from: 'Shop <shop@example.ch>',
    credentials: {
      host: 'mail.example.ch',
      port: 587,
      security: 'starttls',
      tls_policy: 'verify',
      username: login.username,
      has_password: true,
    },
    max_connections: 3,
    max_rate_per_min: 60,
  })
  t.deepEqual((await rest.must('GET', `/v1/destinations/${String(id)}`)) as unknown, shown)
  t.deepEqual(await rest.must('GET', '/v1/destinations'), { data: [shown], next_cursor: null } as never)
})

test('createDestination fills in host, port and security from a preset', async (t) => {
  const { rest } = await startFixture(t)
  const make = (body: object) => rest.call('POST', '/v1/destinations', { name: 'Host', provider: 'smtp', ...body })
  const made = objectOf(await make({ preset: 'infomaniak', credentials: login }))
  t.is(made['preset'], 'infomaniak')
  t.like(made['credentials'], { host: 'mail.infomaniak.com', port: 465, security: 'tls', has_password: true })
  t.deepEqual(refusal(await make({ preset: 'ses', credentials: login })), [
    400,
    'validation_failed',
    'credentials.host: the preset ses does not define it; give it in the form email-smtp.{region}.amazonaws.com',
  ])
  const region = 'email-smtp.eu-central-1.amazonaws.com'
  t.like(objectOf(await make({ preset: 'ses', credentials: { host: region, ...login } }))['credentials'], { host: region, port: 465 })
  t.regex(
    errorOf(await make({ preset: 'nobody', credentials: login })).message,
    /^preset: no preset has this name; GET \/v1\/destinations\/presets/,
  )
  const presets = (await rest.must('GET', '/v1/destinations/presets'))['data'] as Record<string, unknown>[]
  t.like(
    presets.find(({ id }) => id === 'infomaniak'),
    { name: 'Infomaniak', host: 'mail.infomaniak.com', host_is_template: false, port: 465, security: 'tls' },
  )
})

const badEndpoint = test.macro({
  async exec(t: ExecutionContext, credentials: object, message: string) {
    const { rest } = await startFixture(t)
    const answer = await rest.call('POST', '/v1/destinations', { name: 'Host', provider: 'smtp', credentials })
    t.deepEqual(refusal(answer), [400, 'validation_failed', message])
    t.deepEqual(await rest.must('GET', '/v1/destinations'), { data: [], next_cursor: null })
  },
  title: (_, credentials) => `createDestination refuses ${JSON.stringify(credentials)}`,
})
const privately = (allow: string): string =>
  `credentials.host: resolves to a loopback or private address that this service does not allow; to use it, start Postern with POSTERN_OUTBOUND_ALLOW=destinations=${allow}`
const ports = 'credentials.port: must be one of 25, 465, 587, 2465, 2525, 2587'
const open = { port: 587, security: 'starttls' }

test(badEndpoint, {}, 'credentials.host: is required; also missing: credentials.port, credentials.security')
test(badEndpoint, { host: 'mail.example.ch' }, 'credentials.port: is required; also missing: credentials.security')

test('createDestination names name and credentials together with a missing provider', async (t) => {
  const { rest } = await startFixture(t)
  const named = async (body: object) => {
    const { details } = errorOf(await rest.call('POST', '/v1/destinations', body))
    return ((details?.['fields'] ?? []) as { path: string }[]).map(({ path }) => path)
  }
  t.deepEqual(await named({}), ['provider', 'name', 'credentials'])
  t.deepEqual(await named({ provider: 'pigeon', name: 'x' }), ['provider', 'credentials'])
})

test(badEndpoint, { host: 'a b', ...open }, 'credentials.host: must be a host name or an IP address')
test(badEndpoint, { host: 'http://mail.example.ch', ...open }, 'credentials.host: must be a host name or an IP address')
test(badEndpoint, { host: '10.0.0.1', ...open }, privately('10.0.0.1:587'))
test(badEndpoint, { host: '169.254.169.254', ...open }, privately('169.254.169.254:587'))
test(badEndpoint, { host: '::1', ...open }, privately('[::1]:587'))
test(badEndpoint, { host: '[::ffff:127.0.0.1]', ...open }, privately('[::ffff:127.0.0.1]:587'))
test(badEndpoint, { host: 'inside.example.ch', ...open }, privately('ADDRESS:587'))
test(badEndpoint, { host: 'mail.example.ch', port: 443, security: 'tls' }, ports)
test(badEndpoint, { host: 'nowhere.example.ch', port: 22, security: 'tls' }, ports)
test(badEndpoint, { host: '8.8.8.8', port: 6379, security: 'none' }, ports)
test(badEndpoint, { host: 'mail.example.ch', port: 70_000, security: 'tls' }, 'credentials.port: at most 65535')
test(badEndpoint, { host: 'mail.example.ch', port: 587, security: 'ssl' }, 'credentials.security: must be one of tls, starttls, none')
test(
  badEndpoint,
  { host: 'mail.example.ch', ...open, username: 'a' },
  'credentials.password: is required with the other: give both user name and password, or neither',
)
test(
  badEndpoint,
  { host: 'mail.example.ch', port: 25, security: 'none', ...login },
  'credentials.security: must be tls or starttls, so that the password is not sent in clear',
)
test(
  badEndpoint,
  { host: 'nowhere.example.ch', port: 25, security: 'none', ...login },
  'credentials.security: must be tls or starttls, so that the password is not sent in clear',
)
test(badEndpoint, { host: 'mail.example.ch', ...open, pasword: 'x' }, 'credentials.pasword: is not a known field; did you mean password?')

const goodEndpoint = test.macro({
  async exec(t: ExecutionContext, credentials: object) {
    const { rest } = await startFixture(t)
    t.is((await rest.call('POST', '/v1/destinations', { name: 'Host', provider: 'smtp', credentials })).status, 201)
  },
  title: (_, credentials) => `createDestination takes ${JSON.stringify(credentials)}`,
})

test(goodEndpoint, { host: 'localhost', port: 2600, security: 'none', ...login })
test(goodEndpoint, { host: '127.0.0.1', port: 1025, security: 'none' })
test(goodEndpoint, { host: 'mixed.example.ch', ...open })
test(goodEndpoint, { host: 'nowhere.example.ch', ...open })
test(goodEndpoint, { host: 'broken.example.ch', ...open, ...login })

test('createDestination names unknown fields, including mode, and other mistakes', async (t) => {
  const { rest } = await startFixture(t)
  const wrong = async (changes: object) =>
    errorOf(await rest.call('POST', '/v1/destinations', { name: 'Host', ...loopback, ...changes })).message
  t.is(await wrong({ mode: 'live' }), 'mode: is not a known field')
  t.regex(await wrong({ provider: 'sendgird' }), /^provider: must be one of smtp, ses, sendgrid, .*; did you mean sendgrid\?$/)
  t.is(await wrong({ name: '' }), 'name: must not be empty')
  t.is(await wrong({ priority: -1 }), 'priority: at least 0')
  t.is(await wrong({ from: 'a@b.ch, c@d.ch' }), 'from: must be one address such as shop@example.ch or Shop <shop@example.ch>')
  t.is(await wrong({ max_connections: 0 }), 'max_connections: at least 1')
  t.is(await wrong({ project_id: 'prj_none' }), 'project_id: no project has this id; leave it out to use the project of your key.')
})

test('updateDestination changes only the given fields', async (t) => {
  const { rest, clock } = await startFixture(t)
  const id = await addDestination(rest, { credentials: { ...loopback.credentials, ...login } })
  const path = `/v1/destinations/${id}`
  const before = await rest.must('GET', path)
  clock.advance(1000)
  const renamed = await rest.must('PATCH', path, { name: 'New name', environment: null, from: 'a@b.ch' })
  t.deepEqual({ ...renamed, updated_at: before['updated_at'] }, { ...before, name: 'New name', from: 'a@b.ch', warnings: [] } as never)
  t.not(renamed['updated_at'], before['updated_at'])
  t.deepEqual(await rest.must('PATCH', path, {}), renamed)
  const preset = await rest.call('PATCH', path, { preset: 'infomaniak' })
  t.deepEqual(refusal(preset), [400, 'validation_failed', 'preset: requires credentials; give both'])
  const inside = await rest.call('PATCH', path, { credentials: { host: '10.1.1.1', ...open, password: 'x' } })
  t.deepEqual(refusal(inside), [400, 'validation_failed', privately('10.1.1.1:587')])
  t.deepEqual(refusal(await rest.call('PATCH', '/v1/destinations/dst_none', { name: 'x' })), none)
})

test('updateDestination changes the login only; a new server needs the password again', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  const id = await addDestination(rest, { preset: 'infomaniak', credentials: login })
  const path = `/v1/destinations/${id}`
  const change = async (credentials: object) => (await rest.must('PATCH', path, { credentials }))['credentials']
  const password = async () => {
    const record = (await database.get(destinations, { organizationId }, id))?.record
    const sealed = record?.provider === 'smtp' ? record.sealedPassword : null
    return sealed == null ? null : secrets.open(sealed, passwordContext(id))
  }
  const server = { host: 'mail.infomaniak.com', port: 465, security: 'tls', tls_policy: 'verify' }
  t.deepEqual(await change({ password: 'new' }), { ...server, username: login.username, has_password: true })
  t.is(await password(), 'new')
  t.deepEqual(await change({ username: 'other' }), { ...server, username: 'other', has_password: true })
  t.is(await password(), 'new')
  t.is((await rest.must('GET', path))['preset'], 'infomaniak')
  t.deepEqual(await change({ ...server, host: 'MAIL.infomaniak.com' }), { ...server, username: 'other', has_password: true })

  const again = 'credentials.password: give it again: a stored password is not reused with another host, port, security or tls_policy'
  const moves = [
    { host: 'mail.example.ch' },
    { port: 587 },
    { security: 'starttls' },
    { tls_policy: 'insecure' },
    { host: 'mail.example.ch', username: 'x' },
  ]
  for (const credentials of moves) t.deepEqual(refusal(await rest.call('PATCH', path, { credentials })), [400, 'validation_failed', again])
  const preset = await rest.call('PATCH', path, { preset: 'gmail', credentials: {} })
  t.deepEqual(refusal(preset), [400, 'validation_failed', again])
  const moved = { host: 'mail.example.ch', port: 465, security: 'tls', tls_policy: 'verify' }
  t.deepEqual(await change({ host: 'mail.example.ch', password: 'theirs' }), { ...moved, username: 'other', has_password: true })

  const half = async (credentials: object) => errorOf(await rest.call('PATCH', path, { credentials })).message
  t.is(await half({ username: null }), 'credentials.password: must be null too, so that user name and password are both cleared')
  t.is(await half({ password: null }), 'credentials.password: is required with the other: give both user name and password, or neither')
  t.deepEqual(await change({ username: null, password: null }), { ...moved, username: null, has_password: false })
  t.deepEqual(await change({ host: '8.8.8.8' }), { ...moved, host: '8.8.8.8', username: null, has_password: false })
})

test('updateDestination keeps a password with its host, also in concurrent changes', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const there = { host: 'mail.example.ch', port: 465, security: 'tls', username: 'a', password: 'of mail' }
  const id = await addDestination(rest, { credentials: there })
  const path = `/v1/destinations/${id}`
  const patch = (credentials: object) => rest.call('PATCH', path, { credentials })
  for (let round = 0; round < 10; round++) {
    await patch(there)
    await Promise.all([patch({ host: 'mixed.example.ch', password: 'of mixed' }), patch({ username: `u${round}` })])
    const record = (await database.get(destinations, { organizationId }, id))?.record
    if (record?.provider !== 'smtp') return t.fail()
    t.is(record.host, 'mixed.example.ch')
    const kept = new SecretBox(Buffer.alloc(32, 7)).open(record.sealedPassword ?? '', passwordContext(id))
    t.is(kept, 'of mixed')
  }
})

test('updateDestinationMode and promoteDestinationToLive are idempotent', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  const first = await rest.must('POST', `/v1/destinations/${id}/promote-to-live`)
  t.like(first, { id, mode: 'live', already_live: false })
  t.deepEqual(await rest.must('POST', `/v1/destinations/${id}/promote-to-live`), { ...first, already_live: true })
  t.like(await rest.must('PATCH', `/v1/destinations/${id}/mode`, { mode: 'sandbox' }), { id, mode: 'sandbox' })
  const wrong = await rest.call('PATCH', `/v1/destinations/${id}/mode`, { mode: 'off' })
  t.deepEqual(refusal(wrong), [400, 'validation_failed', 'mode: must be one of sandbox, live'])
  t.deepEqual(refusal(await rest.call('POST', '/v1/destinations/dst_none/promote-to-live')), none)
})

test('deleteDestination is refused while rules or credentials name it', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest)
  const rule = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id: id })
  const credential = await rest.must('POST', '/v1/smtp-credentials', { default_destination_id: id })
  const refused = await rest.call('DELETE', `/v1/destinations/${id}`)
  t.like(errorOf(refused), {
    code: 'conflict',
    message: 'The destination is in use by 1 routing rule and 1 SMTP credential. Update or delete these references first.',
    next_action: 'remove_references',
    details: { routing_rule_ids: [rule['id']], smtp_credential_ids: [credential['id']] },
  })
  await rest.must('DELETE', `/v1/routing/rules/${String(rule['id'])}`)
  t.regex(errorOf(await rest.call('DELETE', `/v1/destinations/${id}`)).message, /^The destination is in use by 1 SMTP credential\. /)
  await rest.must('PATCH', `/v1/smtp-credentials/${String(credential['id'])}`, { default_destination_id: '' })
  t.is((await rest.call('DELETE', `/v1/destinations/${id}`)).status, 204)
  t.deepEqual(refusal(await rest.call('GET', `/v1/destinations/${id}`)), none)
  t.deepEqual(refusal(await rest.call('DELETE', `/v1/destinations/${id}`)), none)
})

test('deleteDestination is refused while mail is queued, unless discard_queued is true', async (t) => {
  const { rest } = await startFixture(t)
  const id = await addDestination(rest, {}, true)
  const message = { from: 'shop@example.ch', to: 'ada@example.ch', text: 'Thank you.', destination_id: id }
  t.is((await rest.must('POST', '/v1/messages', message))['outcome'], 'relayed')
  const refused = await rest.call('DELETE', `/v1/destinations/${id}`)
  t.like(errorOf(refused), {
    code: 'conflict',
    message:
      'Messages are still queued for this destination; wait until they are sent, or repeat the request with ?discard_queued=true to fail them.',
    next_action: 'wait_or_discard_queued',
  })
  t.is((await rest.call('DELETE', `/v1/destinations/${id}?discard_queued=false`)).status, 409)
  const odd = await rest.call('DELETE', `/v1/destinations/${id}?discard_queued=yes`)
  t.deepEqual(refusal(odd), [400, 'validation_failed', 'discard_queued: must be one of true, false'])
  t.is((await rest.call('DELETE', `/v1/destinations/${id}?discard_queued=true`)).status, 204)
})

test('promoteDestinationToLive needs no body, and refuses unknown fields of one', async (t) => {
  const { rest } = await startFixture(t)
  const path = `/v1/destinations/${await addDestination(rest)}/promote-to-live`
  const unknown = refusal(await rest.call('POST', path, { force: true }))
  t.deepEqual(unknown.slice(0, 2), [400, 'validation_failed'])
  t.regex(unknown[2], /^force: /)
  t.deepEqual(refusal(await rest.call('POST', path, [])).slice(0, 2), [400, 'validation_failed'])
  t.is((await rest.call('POST', path, {})).status, 200)
  t.is((await rest.call('POST', path)).status, 200)
})

test('a rule created while its destination is deleted never refers to a missing one', async (t) => {
  const { rest } = await startFixture(t)
  for (let round = 0; round < 10; round++) {
    const id = await addDestination(rest)
    const [rule, removed] = await Promise.all([
      rest.call('POST', '/v1/routing/rules', { match: '*', destination_id: id }),
      rest.call('DELETE', `/v1/destinations/${id}`),
    ])
    t.true((rule.status === 201) !== (removed.status === 204), `${rule.status} and ${removed.status}`)
  }
})

test('listDestinations returns pages, and filters by project', async (t) => {
  const { rest, addProject, clock } = await startFixture(t)
  const other = await addProject()
  const ids: string[] = []
  for (let i = 0; i < 5; i++) {
    clock.advance(1)
    ids.unshift(await addDestination(rest, i === 2 ? { project_id: other } : {}))
  }
  const seen: unknown[] = []
  for await (const { id } of rest.rows('/v1/destinations', 2)) seen.push(id)
  t.deepEqual(seen, ids)
  const filtered: unknown[] = []
  for await (const { id } of rest.rows(`/v1/destinations?project=${other}`)) filtered.push(id)
  t.deepEqual(filtered, [ids[2]])
  const missing = await rest.call('GET', '/v1/destinations?project=prj_none')
  t.deepEqual(refusal(missing), [404, 'not_found', 'project: no project has this id; leave it out to use the project of your key.'])
})
