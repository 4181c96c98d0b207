/** Quick checks of circuit breakers, which each daemon has in its memory. */
import test from '#test'
import { projectId, relaying } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { minute, Watched } from './watched.ts'

test('destination.resting: as soon as the breaker opens, until an attempt closes it', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient', 'connect_refused')))
  const { fixture } = here
  for (let n = 0; n < 5; n++) await fixture.submit()
  await here.round()
  t.like(await here.finding('destination.resting'), { subject: 'dst_1', projectId, daemon: '', severity: 'error' })
  t.regex(
    await here.summary('destination.resting'),
    /^The destination Provider has been paused since 2030-.*: its host refuses the connection\. Its mail waits in the queue\.$/,
  )
  await here.pass(minute)
  t.truthy(await here.finding('destination.resting'), 'while it is open')
  fixture.transport.script = (call) => take(call)
  await here.pass(20 * minute)
  t.is(await fixture.queueLength(), 0)
  t.is(await here.finding('destination.resting'), undefined)
})

test('destination.resting: a shared destination is one of the organization, and a new process has closed breakers', async (t) => {
  const first = await Watched.of(await relaying(t, (call) => report(call, 'transient', 'connect_refused')))
  await first.fixture.destination({ shared: 'org' })
  for (let n = 0; n < 5; n++) await first.fixture.submit()
  await first.round()
  t.like(await first.finding('destination.resting'), { subject: 'dst_1', projectId: '' })
  const here = await Watched.of(await first.fixture.crash())
  here.fixture.transport.script = (call) => take(call)
  await here.round()
  t.is(await here.finding('destination.resting'), undefined)
})
