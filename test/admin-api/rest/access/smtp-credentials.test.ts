import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { smtpCredentials } from '#core/access/smtp-credential.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { addDestination, errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const none = [404, 'not_found', 'No SMTP credential has this id.'] as const
const path = '/v1/smtp-credentials'

test('createSmtpCredential returns the resource and, only this time, the password', async (t) => {
  const { rest, database } = await startFixture(t)
  const default_destination_id = await addDestination(rest)
  const made = await rest.call('POST', path, {
    label: 'Shop',
    allowed_from_domains: ['Example.ch', '@example.ch', 'müller.ch'],
    enforce_header_from: true,
    default_destination_id,
    max_rate_per_min: 30,
    max_message_bytes: 1_000_000,
    expires_at: '2031-01-01T01:00:00+01:00',
    verp_enabled: false,
    verp_bounce_domain: 'Bounces.example.ch',
    click_tracking_enabled: null,
  })
  t.is(made.status, 201)
  const { id, username, password, project_id, created_at, updated_at, ...settings } = objectOf(made)
  t.regex(String(id), /^smc_[0-9a-f]{32}$/)
  t.regex(String(username), /^smtp_[a-z2-7]{16}$/)
  t.regex(String(password), /^[a-z2-7]{32}$/)
  t.deepEqual(settings, {
    label: 'Shop',
    allowed_from_domains: ['example.ch', 'xn--mller-kva.ch'],
    enforce_header_from: true,
    default_destination_id,
    environment: null,
    max_rate_per_min: 30,
    max_message_bytes: 1_000_000,
    expires_at: '2031-01-01T00:00:00.000Z',
    verp_enabled: false,
    verp_bounce_domain: 'bounces.example.ch',
    click_tracking_enabled: false,
    open_tracking_enabled: false,
    failure_notices: 'auto',
    failure_notice_to: null,
    failure_notices_today: { sent: 0, withheld: 0 },
    last_login_at: null,
  })
  const found = await database.lookup(smtpCredentials, 'username', [String(username)])
  t.true(new SecretBox(Buffer.alloc(32, 7)).matches(String(password), found?.record.passwordFingerprint ?? ''))
  const shown = { id, username, project_id, created_at, updated_at, ...settings }
  t.deepEqual(await rest.must('GET', `${path}/${String(id)}`), shown)
  t.deepEqual(await rest.must('GET', path), { data: [shown], next_cursor: null })
})

test('createSmtpCredential names every invalid field', async (t) => {
  const { rest, clock } = await startFixture(t)
  const wrong = await rest.call('POST', path, {
    allowed_from_domains: ['ok.ch', 'not a domain'],
    default_destination_id: 'dst_none',
    verp_bounce_domain: 'a@b',
    expires_at: new Date(clock.now()).toISOString(),
  })
  t.deepEqual(errorOf(wrong).details, {
    fields: [
      { path: 'allowed_from_domains[1]', message: 'must be a domain such as example.ch' },
      { path: 'default_destination_id', message: 'no destination of this project has this id' },
      { path: 'verp_bounce_domain', message: 'must be a domain such as bounces.example.ch' },
      { path: 'expires_at', message: 'must be in the future; use null for a credential that does not expire' },
    ],
  })
  const message = async (body: unknown) => errorOf(await rest.call('POST', path, body)).message
  t.is(await message({ max_rate_per_min: 0 }), 'max_rate_per_min: at least 1')
  t.is(await message({ max_message_bytes: 10 }), 'max_message_bytes: at least 1024')
  t.is(await message({ label: 'a\u0085b' }), 'label: must be on one line, without control characters')
  t.is(await message({ password: 'mine' }), 'password: is not a known field')
})

const toggles = { verp_enabled: true, click_tracking_enabled: true, open_tracking_enabled: true }
const allOff = { verp_enabled: false, click_tracking_enabled: false, open_tracking_enabled: false }

test('SMTP credential: create and update enable features of the plan without a warning', async (t) => {
  const { rest } = await startFixture(t, { plan: 'basic' })
  const made = await rest.must('POST', path, toggles)
  t.like(made, toggles)
  t.false('warnings' in made)
  const off = await rest.must('PATCH', `${path}/${String(made['id'])}`, { click_tracking_enabled: false, open_tracking_enabled: null })
  t.like(off, { verp_enabled: true, click_tracking_enabled: false, open_tracking_enabled: false })
  t.false('warnings' in off)
})

test('SMTP credential: create and update disable features outside the plan and warn', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  const warning = (field: string, what: string) => ({
    path: field,
    message: `the plan free does not include ${what}; the setting was turned off; upgrade the plan, then turn it on`,
  })
  const warnings = [
    warning('verp_enabled', 'VERP'),
    warning('click_tracking_enabled', 'click tracking'),
    warning('open_tracking_enabled', 'open tracking'),
  ]
  const made = await rest.must('POST', path, toggles)
  t.like(made, allOff)
  t.deepEqual(made['warnings'], warnings)
  const one = `${path}/${String(made['id'])}`
  const changed = await rest.must('PATCH', one, { open_tracking_enabled: true })
  t.like(changed, allOff)
  t.deepEqual(changed['warnings'], warnings.slice(2))
  const read = await rest.must('GET', one)
  t.like(read, allOff)
  t.false('warnings' in read)
})

test('createSmtpCredential stores a setting that an organization flag disables, and warns', async (t) => {
  const { rest, database, organizationId } = await startFixture(t)
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (!stored) throw new Error('no organization')
  const flags = { click_tracking: false, verp: true }
  await database.commit(new Change().replace(organizations, organizationId, stored, { ...stored.record, flags }))
  const made = await rest.must('POST', path, toggles)
  t.like(made, toggles)
  t.deepEqual(made['warnings'], [
    {
      path: 'click_tracking_enabled',
      message:
        'click tracking is turned off for this organization; the setting is stored and takes effect when the operator turns the feature on',
    },
  ])
})

test('createSmtpCredential and updateSmtpCredential warn if VERP has no bounce domain', async (t) => {
  const { rest } = await startFixture(t, { bounceDomain: null })
  const warnings = [
    { path: 'verp_bounce_domain', message: 'this service has no bounce domain; VERP has no effect until this field is set' },
  ]
  const made = await rest.must('POST', path, { verp_enabled: true })
  t.like(made, { verp_enabled: true, warnings })
  const one = `${path}/${String(made['id'])}`
  t.false('warnings' in (await rest.must('PATCH', one, { verp_bounce_domain: 'bounces.example.ch' })))
  t.like(await rest.must('PATCH', one, { verp_bounce_domain: '' }), { warnings })
  t.false('warnings' in (await rest.must('PATCH', one, { label: 'Shop' })), 'the change is not about VERP')
  t.false('warnings' in (await rest.must('PATCH', one, { verp_enabled: false })))
})

test('createSmtpCredential enforces the plan limit, also for concurrent requests', async (t) => {
  const { rest } = await startFixture(t, { plan: 'basic' })
  const answers = await Promise.all(Array.from({ length: 30 }, () => rest.call('POST', path, {})))
  const [made, ...others] = answers.filter(({ status }) => status === 201)
  t.is(others.length, 9)
  const refused = answers.filter(({ status }) => status === 429)
  t.is(refused.length, 20)
  for (const answer of refused)
    t.like(errorOf(answer), {
      code: 'quota_exhausted',
      message: 'The plan basic allows 10 SMTP credentials; remove one, or raise the plan.',
      next_action: 'upgrade',
    })
  const id = String(made && objectOf(made)['id'])
  t.is((await rest.call('POST', `${path}/${id}/rotate`)).status, 200, 'rotation leaves the count unchanged')
  t.is((await rest.call('DELETE', `${path}/${id}`)).status, 204)
  t.is((await rest.call('POST', path, {})).status, 201)
})

test('createSmtpCredential: above the free number, plan free needs a billing contact', async (t) => {
  const { rest, operator, organizationId } = await startFixture(t, { plan: 'free' })
  await rest.must('POST', path, {})
  const refused = await rest.call('POST', path, {})
  t.is(refused.status, 402)
  t.like(errorOf(refused), { code: 'quota_exceeded', next_action: 'settle_payment' })
  await operator.must('PUT', `/operator/v1/organizations/${organizationId}/payment-state`, { payment_state: 'manual_ok' })
  t.is((await rest.call('POST', path, {})).status, 201)
})

test('createSmtpCredential needs no field; defaults are the restrictive values', async (t) => {
  const { rest } = await startFixture(t)
  t.like(await rest.must('POST', path, {}), {
    ...{ label: '', allowed_from_domains: [], enforce_header_from: true, default_destination_id: null },
    ...{ max_rate_per_min: null, max_message_bytes: null, expires_at: null, verp_enabled: false, verp_bounce_domain: null },
  })
})

test('rotateSmtpCredential replaces only user name and password', async (t) => {
  const { rest, database } = await startFixture(t)
  const before = await rest.must('POST', path, { label: 'Shop', max_rate_per_min: 5 })
  const after = await rest.must('POST', `${path}/${String(before['id'])}/rotate`)
  t.not(after['username'], before['username'])
  t.not(after['password'], before['password'])
  t.deepEqual({ ...after, username: '', password: '' }, { ...before, username: '', password: '' })
  t.is(await database.lookup(smtpCredentials, 'username', [String(before['username'])]), undefined)
  t.deepEqual(refusal(await rest.call('POST', `${path}/smc_none/rotate`)), none)
})

test('updateSmtpCredential changes only the given fields; an empty text clears a field', async (t) => {
  const { rest, clock } = await startFixture(t)
  const default_destination_id = await addDestination(rest)
  const body = { label: 'Shop', default_destination_id, verp_bounce_domain: 'b.ch', max_rate_per_min: 5, allowed_from_domains: ['a.ch'] }
  const { password: _, ...before } = await rest.must('POST', path, body)
  const one = `${path}/${String(before['id'])}`
  clock.advance(1000)
  const updated_at = new Date(clock.now()).toISOString()
  t.deepEqual(await rest.must('PATCH', one, { label: 'New' }), { ...before, label: 'New', updated_at })
  t.like(await rest.must('PATCH', one, { default_destination_id: '', verp_bounce_domain: '', max_rate_per_min: null }), {
    default_destination_id: null,
    verp_bounce_domain: null,
    max_rate_per_min: null,
    allowed_from_domains: ['a.ch'],
  })
  t.like(await rest.must('PATCH', one, { allowed_from_domains: [] }), { allowed_from_domains: [], label: 'New' })
  t.deepEqual(refusal(await rest.call('PATCH', `${path}/smc_none`, {})), none)
})

test('revokeSmtpCredential is idempotent', async (t) => {
  const { rest } = await startFixture(t)
  const { id } = await rest.must('POST', path, {})
  for (let i = 0; i < 2; i++) t.is((await rest.call('DELETE', `${path}/${String(id)}`)).status, 204)
  t.deepEqual(refusal(await rest.call('GET', `${path}/${String(id)}`)), none)
})

test('testSmtpCredential shows every check and probes a live provider', async (t) => {
  const { rest, clock, transport, withKey } = await startFixture(t)
  const login = { username: 'u', password: 'the password' }
  const credentials = { host: '127.0.0.1', port: 2600, security: 'none', ...login }
  const destination = await addDestination(rest, { name: 'Webhoster', credentials })
  const probes = transport.probed.splice(0).length // before the first test
  t.is(probes, 1)
  const expires_at = new Date(clock.now() + 60_000).toISOString()
  const { id, username } = await rest.must('POST', path, { expires_at })
  const sender = await withKey(['api:send'])
  const run = () => sender.must('POST', `${path}/${String(id)}/test-connection`)

  const byRules = 'No default destination is set, so routing rules choose; mail without a matching rule would be'
  t.like((await run())['checks'], { 1: { ok: true, detail: `${byRules} captured.` } })
  await rest.must('PATCH', '/v1/projects/me/no-route-policy', { no_route_policy: 'reject' })
  t.deepEqual(await run(), {
    ok: false,
    checks: [
      { check: 'credential_active', ok: true, detail: `${String(username)} is active until ${expires_at}.` },
      { check: 'destination_resolves', ok: false, detail: `${byRules} refused with 550 5.4.4.` },
    ],
  })
  await rest.must('PATCH', `/v1/destinations/${destination}`, { scope: 'org', is_org_default: true })
  const byDefault = 'Where no routing rule matches: Webhoster (127.0.0.1:2600); a message would be captured, because it is in sandbox mode.'
  t.like((await run())['checks'], { 1: { check: 'destination_resolves', ok: true, detail: byDefault } })
  await rest.must('PATCH', `/v1/destinations/${destination}`, { scope: 'project' })
  await rest.must('PATCH', `${path}/${String(id)}`, { default_destination_id: destination })
  const verbatim = {
    check: 'adapter_forwards_verbatim',
    ok: true,
    detail: 'The provider smtp relays the message byte for byte as submitted, below a Received field of this service.',
  }
  const sandboxed = 'Webhoster (127.0.0.1:2600); a message would be captured, because it is in sandbox mode.'
  t.deepEqual(((await run())['checks'] as unknown[]).slice(1), [{ check: 'destination_resolves', ok: true, detail: sandboxed }, verbatim])
  t.deepEqual(transport.probed, [])

  await rest.must('POST', `/v1/destinations/${destination}/promote-to-live`)
  clock.advance(60_000)
  t.deepEqual(await run(), {
    ok: false,
    checks: [
      { check: 'credential_active', ok: false, detail: `${String(username)} expired at ${expires_at}.` },
      { check: 'destination_resolves', ok: true, detail: 'Webhoster (127.0.0.1:2600); a message would be relayed.' },
      verbatim,
      { check: 'provider_auth', ok: true, detail: 'The login was accepted.', milliseconds: 3 },
    ],
  })
  t.like(transport.probed, [{ destinationId: destination, host: '127.0.0.1', port: 2600, ...login }])
  t.deepEqual(refusal(await rest.call('POST', `${path}/smc_none/test-connection`)), none)
})
