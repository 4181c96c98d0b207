/** Concurrent decisions about one message, and a project that is deleted while its message is pending. */
import test from '#test'
import { assertSound } from '../../../support/problems.ts'
import { startApproval } from './approval-fixture.ts'

test('approval: of concurrent decisions one counts; only a refusal refunds the send', async (t) => {
  const fixture = await startApproval(t)
  const { rest, clock, projectId, destinationId } = fixture
  const [olga, dora] = [await fixture.member('olga@example.ch', 'owner'), await fixture.member('dora@example.ch')]
  const agent = await fixture.agent({ era: 'legacy' })
  const found = { approved: 0, refused: 0, withdrawn: 0 }
  for (let n = 0; n < 9; n++) {
    const held = await fixture.hold({ send_at: new Date(clock.now() + 600_000).toISOString() })
    const withdraw = () => agent.client.callTool({ name: 'email_scheduled_cancel', arguments: { trace_id: held.trace_id } })
    const [first, second, third] = await Promise.all([
      fixture.decide(olga, held, n % 3 === 1 ? 'refuse' : 'approve'),
      fixture.decide(dora, held, 'approve'),
      fixture.decide(dora, held, 'refuse'),
      rest.must('PATCH', `/v1/destinations/${destinationId}`, { name: `Host ${n}` }),
      ...(n % 3 === 2 ? [withdraw()] : []),
    ])
    const events = (await fixture.traceOf(held)).timeline.map(({ event }) => event)
    const made = (['approved', 'refused', 'withdrawn'] as const).filter((one) => events.includes(one))
    t.is(made.length, 1, events.join())
    t.is([first, second, third].filter((status) => status === 303).length, made[0] === 'withdrawn' ? 0 : 1, events.join())
    if (made[0]) found[made[0]]++
  }
  t.is(found.approved + found.refused + found.withdrawn, 9)
  t.like(await rest.must('GET', `/v1/projects/${projectId}`), { project_sends_today: 9 - found.refused, approvals_waiting: 0 })
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})

test('approval: pending messages of a deleted project are not sent and leave no rows', async (t) => {
  const fixture = await startApproval(t)
  const { rest, projectId, destinationId } = fixture
  const { id } = await rest.must('POST', '/v1/projects', { name: 'Tenant', parent_id: projectId })
  await rest.must('PATCH', `/v1/destinations/${destinationId}`, { scope: 'org' })
  const held = await fixture.hold({}, await fixture.tokenOf(undefined, { project: String(id) }))
  t.is((await rest.call('DELETE', `/v1/projects/${String(id)}`)).status, 409)
  await rest.must('DELETE', `/v1/projects/${String(id)}?discard_queued=true`)
  t.is(await fixture.decide(await fixture.member('olga@example.ch', 'owner'), held, 'approve'), 404)
  fixture.clock.advance(31 * 60_000)
  await fixture.daemon.settled()
  t.deepEqual(fixture.transport.attempted, [])
  await assertSound(t, fixture)
})
