/** Failover policies over REST. */
import test from '#test'
import { addDestination, errorOf, refusal, startFixture } from '../fixture/rest-fixture.ts'

const path = '/v1/failover/policy'

test('a policy is set, replaced, listed and deleted; setting it is idempotent', async (t) => {
  const { rest, clock } = await startFixture(t)
  const [primary_id, a, b] = [await addDestination(rest), await addDestination(rest), await addDestination(rest)]
  const body = { primary_id, fallback_ids: [a, b], conditions: { on: ['transient', 'latency'], latency_ms: 2000 } }
  const made = await rest.must('POST', path, body)
  t.like(made, body)
  clock.advance(1000)
  t.deepEqual(await rest.must('POST', path, body), made)
  const { warnings: _, ...changed } = await rest.must('POST', path, { primary_id, fallback_ids: [b], conditions: { on: ['breaker_open'] } })
  t.like(changed, {
    id: made['id'],
    fallback_ids: [b],
    conditions: { on: ['breaker_open'], latency_ms: null },
    created_at: made['created_at'],
  })
  t.deepEqual(await rest.must('GET', path), { data: [changed], next_cursor: null })
  t.is((await rest.call('DELETE', `${path}/${primary_id}`)).status, 204)
  t.deepEqual(refusal(await rest.call('DELETE', `${path}/${primary_id}`)), [
    404,
    'not_found',
    'No failover policy has this primary destination.',
  ])
  t.deepEqual(await rest.must('GET', path), { data: [], next_cursor: null })
})

test('an invalid policy is refused with the name of the field', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const [primary_id, a] = [await addDestination(rest), await addDestination(rest)]
  const foreign = await addDestination(rest, { project_id: await addProject() })
  const on = { on: ['transient'] }
  for (const [changes, message] of [
    [{ fallback_ids: [primary_id] }, 'fallback_ids.0: is the primary destination itself; leave it out'],
    [{ fallback_ids: [a, a] }, 'fallback_ids.1: is already in the list; leave it out'],
    [{ fallback_ids: [] }, 'fallback_ids: give at least one destination that takes over'],
    [
      { fallback_ids: [a, 'b', 'c', 'd', 'e', 'f'] },
      'fallback_ids: can have at most 5 destinations; also wrong: fallback_ids.1, fallback_ids.2, fallback_ids.3, fallback_ids.4, fallback_ids.5',
    ],
    [{ fallback_ids: [foreign] }, 'fallback_ids.0: no destination of this project has this id'],
    [{ primary_id: 'dst_none' }, 'primary_id: no destination of this project has this id'],
    [{ conditions: { on: [] } }, 'conditions.on: give at least one condition'],
    [{ conditions: { on: ['transient', 'transient'] } }, 'conditions.on: contains a condition twice'],
    [
      { conditions: { on: ['latency'] } },
      'conditions.latency_ms: is required with the condition latency: the maximum latency in milliseconds',
    ],
    [
      { conditions: { on: ['transient'], latency_ms: 5 } },
      'conditions.latency_ms: has an effect only with the condition latency; add it to on, or leave this out',
    ],
  ] as const) {
    const answer = await rest.call('POST', path, { primary_id, fallback_ids: [a], conditions: on, ...changes })
    t.deepEqual(refusal(answer), [400, 'validation_failed', message])
  }
  t.is((await rest.call('POST', path, { primary_id, fallback_ids: [a], conditions: { on: ['always'] } })).status, 400)
})

test('a destination in a policy cannot be deleted', async (t) => {
  const { rest } = await startFixture(t)
  const [primary_id, a] = [await addDestination(rest), await addDestination(rest)]
  const { id } = await rest.must('POST', path, { primary_id, fallback_ids: [a], conditions: { on: ['transient'] } })
  for (const one of [primary_id, a]) {
    const answer = await rest.call('DELETE', `/v1/destinations/${one}`)
    t.deepEqual(refusal(answer), [
      409,
      'conflict',
      'The destination is in use by 1 failover policy. Update or delete these references first.',
    ])
    t.like(errorOf(answer).details, { failover_policy_ids: [id] })
  }
  await rest.must('DELETE', `${path}/${primary_id}`)
  t.is((await rest.call('DELETE', `/v1/destinations/${a}`)).status, 204)
})

test('policies of other projects are hidden, and setting one needs api:admin', async (t) => {
  const { rest, addProject, withKey } = await startFixture(t)
  const [primary_id, a] = [await addDestination(rest), await addDestination(rest)]
  const body = { primary_id, fallback_ids: [a], conditions: { on: ['transient'] } }
  await rest.must('POST', path, body)
  const bound = await withKey(['api:admin'], await addProject())
  t.deepEqual(await bound.must('GET', path), { data: [], next_cursor: null })
  t.is((await bound.call('DELETE', `${path}/${primary_id}`)).status, 404)
  t.is((await bound.call('POST', path, body)).status, 400)
  const reader = await withKey(['api:read'])
  t.is((await reader.call('POST', path, body)).status, 403)
  t.is(((await reader.must('GET', path))['data'] as unknown[]).length, 1)
})

test('an organization-wide destination may be a fallback of any project', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const wide = await addDestination(rest)
  await rest.must('PATCH', `/v1/destinations/${wide}`, { scope: 'org' })
  const primary_id = await addDestination(rest, { project_id: await addProject() })
  t.like(await rest.must('POST', path, { primary_id, fallback_ids: [wide], conditions: { on: ['transient'] } }), { fallback_ids: [wide] })
})

const codes = (answer: Readonly<Record<string, unknown>>): string[] => (answer['warnings'] as { code: string }[]).map(({ code }) => code)

test('a policy without a usable fallback has a warning, also after a switch to sandbox mode', async (t) => {
  const { rest } = await startFixture(t)
  const primary = await addDestination(rest, { name: 'First' }, true)
  const fallback = await addDestination(rest, { name: 'Second' })
  const policy = { primary_id: primary, fallback_ids: [fallback], conditions: { on: ['transient'] } }
  const skipped = {
    code: 'fallback_in_sandbox',
    step: 'failover',
    message: 'Second is in sandbox mode and is skipped when First fails. Promote Second to live.',
  }
  for (let times = 0; times < 2; times++) t.deepEqual((await rest.must('POST', '/v1/failover/policy', policy))['warnings'], [skipped])
  await rest.must('POST', `/v1/destinations/${fallback}/promote-to-live`)
  t.deepEqual(codes(await rest.must('POST', '/v1/failover/policy', policy)), [])
  const mode = await rest.must('PATCH', `/v1/destinations/${fallback}/mode`, { mode: 'sandbox' })
  t.deepEqual(mode['warnings'], [skipped])
  await rest.must('PATCH', `/v1/destinations/${primary}/mode`, { mode: 'sandbox' })
  t.deepEqual(codes(await rest.must('POST', '/v1/failover/policy', policy)), ['primary_in_sandbox', 'fallback_in_sandbox'])
})
