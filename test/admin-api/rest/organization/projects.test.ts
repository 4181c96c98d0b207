import test from '#test'
import { refusal, startFixture } from '../fixture/rest-fixture.ts'

test('getMyProject shows the project and its usage', async (t) => {
  const { rest } = await startFixture(t, { plan: 'free' })
  await rest.must('POST', '/v1/messages', { from: 'a@b.ch', to: 'c@d.ch', text: 'hello' })
  const { project_id, ...state } = await rest.must('GET', '/v1/projects/me')
  t.regex(String(project_id), /^prj_[0-9a-f]{32}$/)
  t.deepEqual(state, {
    status: 'claimed',
    name: 'Default',
    plan_tier: 'free',
    sends_today: 1,
    sends_cap: 100,
    project_sends_today: 1,
    claim_progress: {
      claimed: true,
      user_id: null,
      claim_email: null,
      magic_link_sent_at: null,
      magic_link_expires_at: null,
      magic_link_pending: false,
    },
    no_route_policy: 'capture',
    monthly_capture_cap: 5000,
    captures_this_month: 1,
  })
})

test('getMyProject resets counts each day and month, and has no caps on plan enterprise', async (t) => {
  const { rest, clock } = await startFixture(t)
  await rest.must('POST', '/v1/messages', { from: 'a@b.ch', to: 'c@d.ch', text: 'hello' })
  clock.advance(86_400_000)
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 0, captures_this_month: 1, sends_cap: null, monthly_capture_cap: null })
  clock.advance(31 * 86_400_000)
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 0, captures_this_month: 0 })
})

test('setNoRoutePolicy sets the handling of sends without a destination', async (t) => {
  const { rest } = await startFixture(t)
  const send = () => rest.call('POST', '/v1/messages', { from: 'a@b.ch', to: 'c@d.ch', text: 'hello' })
  const path = '/v1/projects/me/no-route-policy'
  t.like(await rest.must('PATCH', path, { no_route_policy: 'reject' }), { no_route_policy: 'reject' })
  t.deepEqual(refusal(await send()), [
    422,
    'no_route',
    "No routing rule of the project matches a@b.ch. The project's no-route policy is reject; create a routing rule, or give a destination.",
  ])
  t.like(await rest.must('PATCH', path, { value: 'relay_default' }), { no_route_policy: 'relay_default' })
  t.is((await send()).status, 422)
  await rest.must('PATCH', path, { value: 'capture' })
  t.is((await send()).status, 200)
  t.like(await rest.must('GET', '/v1/projects/me'), { sends_today: 1 })
  const required = 'no_route_policy: give exactly one of no_route_policy and value: capture, reject, relay_default'
  t.deepEqual(refusal(await rest.call('PATCH', path, {})), [400, 'validation_failed', required])
  t.deepEqual(refusal(await rest.call('PATCH', path, { value: 'drop' })), [
    400,
    'validation_failed',
    'value: must be one of capture, reject, relay_default',
  ])
})
