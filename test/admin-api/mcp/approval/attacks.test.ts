/** Changes between an agent's request and its approval, and texts with which an agent could mislead the approver. */
import test from '#test'
import { addDestination } from '../../rest/fixture/rest-fixture.ts'
import { assertSound } from '../../../support/problems.ts'
import { mail, pathOf, startApproval, type Held } from './approval-fixture.ts'

test('approval: refused if the destination was deleted, moved or put into sandbox mode', async (t) => {
  const fixture = await startApproval(t)
  const { rest, destinationId } = fixture
  const olga = await fixture.member('olga@example.ch')
  const held = await fixture.hold()
  const unapproved = async (why: RegExp): Promise<void> => {
    const { html } = await olga.get(pathOf(held))
    t.regex(html, why)
    t.deepEqual([html.includes('Approve and send'), html.includes('>Refuse<')], [false, true])
    t.is(await fixture.decide(olga, held, 'approve'), 409)
    t.like(await fixture.traceOf(held), { status: 'pending' })
  }
  await rest.must('PATCH', `/v1/destinations/${destinationId}/mode`, { mode: 'sandbox' })
  await unapproved(/is in sandbox mode/)
  await rest.must('PATCH', `/v1/destinations/${destinationId}/mode`, { mode: 'live' })
  t.true((await olga.get(pathOf(held))).html.includes('Approve and send'))
  const { id: other } = await rest.must('POST', '/v1/projects', { name: 'Other' })
  await rest.must('PATCH', `/v1/destinations/${destinationId}`, { project_id: other })
  await unapproved(/belongs to another project/)
  await rest.must('DELETE', `/v1/destinations/${destinationId}`)
  await unapproved(/destination was deleted/)
  t.is(await fixture.decide(olga, held, 'refuse'), 303)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})

test('approval: invalid after the destination changes to another server', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const olga = await fixture.member('olga@example.ch')
  const moveTo = (port: number) => fixture.rest.must('PATCH', `/v1/destinations/${fixture.destinationId}`, { credentials: { port } })
  const { credentials } = await fixture.rest.must('GET', `/v1/destinations/${fixture.destinationId}`)
  const { port } = credentials as { readonly port: number }
  await moveTo(2526)
  const { html } = await olga.get(pathOf(held))
  t.regex(html, /<dt>Destination<\/dt>\s*<dd[^>]*>Host \([^)]*:2526\)/)
  t.regex(html, /delivers through [^ ]+:2526 now, and did through/)
  t.false(html.includes('Approve and send'))
  t.is(await fixture.decide(olga, held, 'approve'), 409)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  await moveTo(port)
  t.is(await fixture.decide(olga, held, 'approve'), 303, 'the destination matches the request again')
  const other = await fixture.hold()
  t.not(other.approval.digest, held.approval.digest)
  await moveTo(2526)
  t.not((await fixture.hold()).approval.digest, other.approval.digest)
})

test('approval: a later failover policy does not redirect the message', async (t) => {
  const fixture = await startApproval(t)
  const { rest, transport, destinationId: primary_id } = fixture
  const credentials = { host: '127.0.0.1', port: 2600, security: 'none' }
  const [shown, other] = [
    await addDestination(rest, { name: 'Second', credentials }, true),
    await addDestination(rest, { name: 'Other' }, true),
  ]
  const agent = await fixture.agent()
  const setFallbacks = (...fallback_ids: string[]) =>
    agent.must('email_failover_policy_set', { primary_id, fallback_ids, conditions: { on: ['transient'] } })
  await setFallbacks(shown)
  const [held, moved] = [await fixture.hold(), await fixture.hold({ subject: 'Moved' })]
  const olga = await fixture.member('olga@example.ch')
  t.regex((await olga.get(pathOf(held))).html, /<dt>Fallback<\/dt>\s*<dd[^>]*>Second \([^)]*127\.0\.0\.1:2600\)</)
  for (const one of [primary_id, shown, other]) transport.closed.add(one)
  await setFallbacks(other, shown)
  t.is(await fixture.decide(olga, held, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(transport.attemptedAt, [primary_id, shown])
  await rest.must('PATCH', `/v1/destinations/${shown}`, { credentials: { port: 2601 } })
  t.is(await fixture.decide(olga, moved, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(transport.attemptedAt, [primary_id, shown, primary_id], 'the page showed another destination')
  t.not((await fixture.hold()).approval.digest, held.approval.digest)
})

test('approval: the page shows a blind copy to the sender', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold({ bcc: mail.from })
  const { html } = await (await fixture.member('olga@example.ch')).get(pathOf(held))
  t.regex(html, /<dt>Bcc<\/dt>\s*<dd[^>]*>shop@example\.ch</)
})

test('approval: a display name cannot imitate an address or reverse the text', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold({
    to: '"ada@example.org>, Bob <bob@example.org" <eve@example.net>',
    cc: '"\u202egro.elpmaxe" <mallory@example.net>',
    subject: 'Over\u202eview',
  })
  const { html } = await (await fixture.member('olga@example.ch')).get(pathOf(held))
  t.true(html.includes('&quot;ada@example.org&gt;, Bob &lt;bob@example.org&quot; &lt;eve@example.net&gt;'), html)
  t.false(html.slice(html.indexOf('<dl class="mail">'), html.indexOf('</dl>')).includes('\u202e'))
  t.regex(html, /2 characters that change the text direction/)
})

test('approval: another grant with the same idempotency key gets the same approval', async (t) => {
  const fixture = await startApproval(t)
  const given = { ...mail, destination_id: fixture.destinationId, idempotency_key: 'k1' }
  const [first, second] = [await fixture.agent({ era: 'legacy' }), await fixture.agent({ era: 'legacy' })]
  const held = (await first.must('email_send_test', given)) as unknown as Held
  t.deepEqual(await second.must('email_send_test', given), { ...held })
  fixture.clock.advance(31 * 60_000)
  const { code, message } = await second.refused('email_send_test', given)
  t.is(code, 'conflict')
  t.regex(message, /with another idempotency_key/)
})

test('approval: a clock set back sends nothing; a clock set forward ends the timeout', async (t) => {
  const fixture = await startApproval(t)
  const olga = await fixture.member('olga@example.ch')
  const held = await fixture.hold()
  fixture.clock.step(-3_600_000)
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.like(await fixture.traceOf(held), { status: 'pending' })
  t.deepEqual(fixture.transport.attempted, [])
  fixture.clock.step(3_600_000)
  t.is(await fixture.decide(olga, held, 'approve'), 409)
  fixture.clock.advance(3_600_000)
  await fixture.daemon.settled()
  t.like(await fixture.traceOf(held), { status: 'canceled' })
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})

test('approval: later suppressions and lowered roles apply', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold({ to_extra: ['bob@example.org'] })
  await fixture.member('olga@example.ch', 'owner')
  const dora = await fixture.member('dora@example.ch', 'developer')
  const { data } = (await fixture.rest.must('GET', '/v1/members')) as {
    readonly data: readonly { readonly user_id: string; readonly email: string }[]
  }
  const userId = String(data.find(({ email }) => email === 'dora@example.ch')?.user_id)
  await fixture.rest.must('PATCH', `/v1/members/${userId}`, { role: 'viewer' })
  t.is(await fixture.decide(dora, held, 'approve'), 403)
  await fixture.rest.must('PATCH', `/v1/members/${userId}`, { role: 'developer' })
  await fixture.rest.must('POST', '/v1/suppressions', { email: 'ada@example.org' })
  t.is(await fixture.decide(dora, held, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['bob@example.org']])
})

test('approval: the trace shows the message as queued only after approval', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const events = async () => (await fixture.traceOf(held)).timeline.map(({ event }) => event)
  t.deepEqual(await events(), ['accepted', 'routed', 'approval_requested'])
  t.is(await fixture.decide(await fixture.member('olga@example.ch'), held, 'approve'), 303)
  t.deepEqual((await events()).slice(0, 5), ['accepted', 'routed', 'approval_requested', 'approved', 'queued'])
})

test('approval: a scheduled send past its time is sent at approval', async (t) => {
  const fixture = await startApproval(t)
  const olga = await fixture.member('olga@example.ch')
  const held = await fixture.hold({ send_at: new Date(fixture.clock.now() + 60_000).toISOString() })
  fixture.clock.advance(120_000)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  t.is(await fixture.decide(olga, held, 'approve'), 303)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [['ada@example.org']])
  await assertSound(t, fixture)
})

test('approval: deleting a project cancels its pending messages', async (t) => {
  const fixture = await startApproval(t)
  const { id } = await fixture.rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: fixture.projectId })
  const { rest } = fixture
  const made = await rest.must('POST', '/v1/destinations', {
    ...{ name: 'Of the tenant', provider: 'smtp', project_id: id },
    credentials: { host: '127.0.0.1', port: 2525, security: 'none' },
  })
  await rest.must('POST', `/v1/destinations/${String(made['id'])}/promote-to-live`)
  const held = await fixture.hold({ destination_id: made['id'] }, await fixture.tokenOf(undefined, { project: String(id) }))
  const olga = await fixture.member('olga@example.ch', 'owner')
  t.is((await rest.call('DELETE', `/v1/projects/${String(id)}`)).status, 409)
  await rest.must('DELETE', `/v1/projects/${String(id)}?discard_queued=true`)
  t.is(await fixture.decide(olga, held, 'approve'), 404)
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
})

test('approval: replay, retry and cancel send no pending message', async (t) => {
  const fixture = await startApproval(t)
  const held = await fixture.hold()
  const { rest } = fixture
  await rest.must('POST', '/v1/replays', { filter: {} })
  t.is((await rest.call('POST', `/v1/traces/${held.trace_id}/retry`, { include_unknown: true })).status, 409)
  t.is((await rest.call('DELETE', `/v1/messages/scheduled/${held.trace_id}`)).status, 404)
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  await rest.must('POST', '/v1/replays', { filter: {} })
  t.is((await rest.call('POST', `/v1/traces/${held.trace_id}/retry`, { include_unknown: true })).status, 409)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})
