/** The test and the health of a destination over REST. */
import test from '#test'
import { addDestination, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const step = (name: string, ok = true, detail = `${name} went well.`) => ({ step: name, ok, detail, milliseconds: 2.6 })
const good = ['resolve', 'connect', 'greeting', 'tls', 'auth', 'ready'].map((name) => step(name))

test('testDestination uses the decrypted password, works in sandbox mode, and returns all steps', async (t) => {
  const { rest, transport } = await startFixture(t)
  transport.steps = good
  const id = await addDestination(rest, {
    credentials: { host: 'mail.example.ch', port: 587, security: 'starttls', username: 'u', password: 'p' },
  })
  const answer = await rest.must('POST', `/v1/destinations/${id}/test`)
  t.like(transport.probed, [{ destinationId: id, username: 'u', password: 'p', security: 'starttls' }])
  t.true(answer['ok'])
  t.deepEqual(
    (answer['steps'] as { step: string; milliseconds: number }[]).map((one) => [one.step, one.milliseconds]),
    good.map((one) => [one.step, 3]),
  )
})

test('a failed last step makes the test not ok, and health shows it under auth', async (t) => {
  const { rest, transport } = await startFixture(t)
  const id = await addDestination(rest)
  transport.steps = [
    step('resolve'),
    step('connect'),
    step('greeting'),
    step('tls'),
    step('auth', false, 'The host refused the user name and password.'),
  ]
  t.like(await rest.must('POST', `/v1/destinations/${id}/test`), { ok: false })
  t.like(await rest.must('GET', `/v1/destinations/${id}/health`), {
    destination_id: id,
    reachability: { ok: true },
    tls: { ok: true },
    auth: { ok: false, detail: 'The host refused the user name and password.' },
    latency_ms: 13,
    latency: { p50_ms: null, p95_ms: null, last_ms: null },
    breaker: { state: 'closed', since: null, reason: null, next_trial_at: null },
    last_hour: { attempts: 0, errors: 0, error_rate: 0, p50_ms: null, p95_ms: null },
  })
})

test('unreached parts of a probe are null, with the failed step as the reason', async (t) => {
  const { rest, transport } = await startFixture(t)
  const id = await addDestination(rest)
  await rest.must('PATCH', `/v1/destinations/${id}`, { name: 'Other' }) // a change of settings discards the earlier results
  transport.steps = [step('resolve'), step('connect', false, 'The host refused the connection.')]
  t.like(await rest.must('GET', `/v1/destinations/${id}/health`), {
    reachability: { ok: false, detail: 'The host refused the connection.' },
    tls: { ok: null },
    auth: { ok: null },
  })
})

test('health probes after a minute or a change of settings, and never concurrently', async (t) => {
  const { rest, transport, clock } = await startFixture(t)
  transport.steps = good
  const id = await addDestination(rest)
  const path = `/v1/destinations/${id}/health`
  const all = await Promise.all([rest.must('GET', path), rest.must('GET', path), rest.must('GET', path)])
  t.is(new Set(all.map((one) => one['checked_at'])).size, 1)
  clock.advance(59_000)
  await rest.must('GET', path)
  t.is(transport.probed.length, 1)
  clock.advance(2000)
  const later = await rest.must('GET', path)
  t.is(transport.probed.length, 2)
  t.not(later['checked_at'], all[0]['checked_at'])
  await rest.must('PATCH', `/v1/destinations/${id}`, { name: 'Other' })
  await rest.must('GET', path)
  t.is(transport.probed.length, 3)
})

test('creating or changing a destination warns immediately about a failing step', async (t) => {
  const { rest, transport } = await startFixture(t)
  transport.steps = [step('resolve'), step('connect'), step('auth', false, 'The host refused the user name and password.')]
  const credentials = { host: 'mail.example.ch', port: 587, security: 'starttls', username: 'u', password: 'wrong' }
  const created = await rest.must('POST', '/v1/destinations', { name: 'Webhoster', provider: 'smtp', credentials })
  const warning = {
    code: 'destination_misconfigured',
    step: 'auth',
    message:
      'The host refused the user name and password. Correct the user name or the password. The destination is stored. Its mail is queued or ' +
      'fails over until a test succeeds.',
  }
  t.deepEqual(created['warnings'] as object[], [warning])
  const path = `/v1/destinations/${String(created['id'])}`
  t.false('warnings' in (await rest.must('GET', path)), 'warnings belong to a change; health shows the current state')
  t.deepEqual((await rest.must('PATCH', path, { credentials: { password: 'also wrong' } }))['warnings'] as object[], [warning])
  t.is(transport.probed.length, 2)
  t.deepEqual((await rest.must('PATCH', path, { name: 'Other' }))['warnings'] as object[], [])
  t.is(transport.probed.length, 2, 'a change of the name needs no probe')
  transport.steps = good
  t.deepEqual((await rest.must('PATCH', path, { credentials: { password: 'right' } }))['warnings'] as object[], [])
  t.like(transport.probed.at(-1), { password: 'right' })
})

test('getDestinationHealth needs api:read, testDestination api:admin; unknown ids are 404', async (t) => {
  const { rest, withKey } = await startFixture(t)
  const id = await addDestination(rest)
  const reader = await withKey(['api:read'])
  t.is((await reader.call('GET', `/v1/destinations/${id}/health`)).status, 200)
  t.is((await reader.call('POST', `/v1/destinations/${id}/test`)).status, 403)
  t.deepEqual(refusal(await rest.call('GET', '/v1/destinations/dst_none/health')), [404, 'not_found', 'No destination has this id.'])
  t.is(objectOf(await rest.call('GET', `/v1/destinations/${id}/health`))['destination_id'], id)
})

test('health shows latency and errors of the last hour only', async (t) => {
  const { rest, transport, health, clock, organizationId } = await startFixture(t)
  transport.steps = good
  const id = await addDestination(rest)
  const subject = { id, updatedAt: clock.now() }
  const report = { recipients: [{ address: 'a@b.example', verdict: 'accepted' as const }], host: 'mail.test', port: 25, reused: false }
  const attempt = (total: number, hasFailed: boolean): void => {
    health.attempting(subject)
    const error = { code: 'connect_refused', message: 'Refused.', phase: 'connect' }
    const failed = { ...report, recipients: [{ address: 'a@b.example', verdict: 'transient' as const }], error }
    health.attempted(organizationId, subject, { ...(hasFailed ? failed : report), milliseconds: { total } })
  }
  for (let n = 0; n < 18; n++) attempt(100, false)
  attempt(9000, true)
  attempt(250.4, false)
  const shown = await rest.must('GET', `/v1/destinations/${id}/health`)
  const { p50_ms: p50, p95_ms: p95, last_ms: last } = shown['latency'] as Record<string, number>
  t.is(last, 250)
  t.true(p50 !== undefined && p50 >= 100 && p50 <= 150, String(p50))
  t.true(p95 !== undefined && p95 >= 250 && p95 <= 13_500, String(p95))
  t.like(shown, { last_hour: { attempts: 20, errors: 1, error_rate: 0.05, p50_ms: p50, p95_ms: p95 } })
  clock.advance(30 * 60_000)
  attempt(40, false)
  t.like(await rest.must('GET', `/v1/destinations/${id}/health`), { latency: { last_ms: 40 }, last_hour: { attempts: 21, errors: 1 } })
  clock.advance(31 * 60_000)
  const later = await rest.must('GET', `/v1/destinations/${id}/health`)
  t.like(later, { latency: { last_ms: 40 }, last_hour: { attempts: 1, errors: 0 } })
  clock.advance(60 * 60_000)
  const none = { p50_ms: null, p95_ms: null, last_ms: null }
  t.like(await rest.must('GET', `/v1/destinations/${id}/health`), { latency: none, last_hour: { attempts: 0, errors: 0 } })
})

test('the health of all destinations is listed without a probe, in pages and by project', async (t) => {
  const { rest, transport, health, clock, organizationId } = await startFixture(t)
  transport.steps = good
  const [first, second] = [await addDestination(rest), await addDestination(rest)]
  const probed = transport.probed.length
  const subject = { id: first, updatedAt: clock.now() }
  const recipients = [{ address: 'a@b.example', verdict: 'transient' as const }]
  const error = { code: 'connect_refused', message: 'Refused.', phase: 'connect' }
  for (let n = 0; n < 20; n++) {
    health.attempting(subject)
    health.attempted(organizationId, subject, {
      recipients,
      error,
      host: 'mail.test',
      port: 25,
      reused: false,
      milliseconds: { total: 10 },
    })
  }
  const { data } = await rest.must('GET', '/v1/destinations/health')
  const [later, earlier] = data as Record<string, unknown>[]
  t.like(later, { destination_id: second, breaker: { state: 'closed' }, last_hour: { attempts: 0 } })
  t.like(earlier, {
    destination_id: first,
    breaker: { state: 'open', reason: '5 consecutive attempts failed; the last one: Refused.' },
    last_hour: { attempts: 20, errors: 20 },
  })
  t.is((await Array.fromAsync(rest.rows('/v1/destinations/health', 1))).length, 2)
  const project = String((await rest.must('POST', '/v1/projects', { name: 'Other' }))['id'])
  t.deepEqual((await rest.must('GET', `/v1/destinations/health?project=${project}`))['data'], [])
  t.is(transport.probed.length, probed)
})
