/** Quick checks of waiting mail: late, on hold, and waiting for approval. */
import test from '#test'
import { traces } from '#core/trace/trace.ts'
import { projectId, relaying } from '../core-fixture.ts'
import { act } from '../delivery/acts/acting.ts'
import { report, take } from '../scripted-transport.ts'
import { hour, minute, Watched } from './watched.ts'

test('queue.late: the oldest message waits for an hour, unless its destination is paused or failing', async (t) => {
  const here = await Watched.of(
    await relaying(t, (call) => take(call, { 'slow@example.net': 'transient' }), { retry: { delaysMs: [20 * minute] } }),
  )
  const { fixture } = here
  for (let n = 0; n < 20; n++) await fixture.submit()
  await fixture.submit({ rcptTo: ['slow@example.net'] })
  await here.pass(59 * minute)
  t.is(await here.finding('queue.late'), undefined)
  await here.pass(2 * minute)
  t.like(await here.finding('queue.late'), {
    subject: projectId,
    projectId,
    params: { count: 1, minutes: 60, sinceAt: here.now - 61 * minute },
  })
  t.is(await here.summary('queue.late'), 'A message has waited for 60 minutes since its attempt was due.')
  fixture.transport.script = (call) => report(call, 'transient', 'connect_refused')
  for (let n = 0; n < 5; n++) await fixture.submit()
  await here.pass(minute)
  t.is(await here.finding('queue.late'), undefined, 'the pause explains it')
  fixture.transport.script = (call) => take(call)
  await here.pass(hour)
  t.is(await fixture.queueLength(), 0)
  t.is(await here.finding('queue.late'), undefined)
})

test('queue.held: mail on hold for a day, and held mail is never late', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient')))
  const { fixture } = here
  await fixture.submit()
  await here.round()
  await act(fixture, { act: 'hold', filter: { destinationId: 'dst_1' } })
  const sinceAt = here.now
  await here.pass(24 * hour - minute)
  t.deepEqual(await here.open(), [])
  await here.pass(2 * minute)
  t.like(await here.finding('queue.held'), { subject: projectId, params: { count: 1, sinceAt } })
  t.regex(await here.summary('queue.held'), /^One message is held in the queue, since 2030-/)
  fixture.transport.script = (call) => take(call)
  await act(fixture, { act: 'release', filter: { destinationId: 'dst_1' } })
  await here.pass(minute)
  t.is(await here.finding('queue.held'), undefined)
})

test('approval.waiting: messages of agents, until a person decides', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient'), { deaf: true }))
  const { traceId } = await here.fixture.submit()
  const { status } = await here.fixture.trace(traceId)
  const approval = { digest: '', fallbacks: [], expiresAt: here.now + 30 * minute }
  await here.fixture.edit(traces, traceId, { status: 'pending', approval })
  await here.round()
  t.is(await here.summary('approval.waiting'), '1 message of an agent in the project Default waits for approval.')
  await here.fixture.edit(traces, traceId, { status, approval: { ...approval, decision: { as: 'approved', by: 'usr_1', at: here.now } } })
  await here.round()
  t.is(await here.finding('approval.waiting'), undefined)
})
