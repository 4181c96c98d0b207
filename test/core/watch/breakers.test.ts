/** Quick checks of circuit breakers, which each daemon has in its memory. */
import test from '#test'
import { countAttempt } from '#core/insights/count.ts'
import { coreFixture, projectId, relaying } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { day, hour, minute, place, Watched } from './watched.ts'
import { delivered, WatchingDaemon } from './watching-daemon.ts'

test('destination.resting: as soon as the breaker opens, until an attempt closes it', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient', 'connect_refused')))
  const { fixture } = here
  for (let n = 0; n < 5; n++) await fixture.submit()
  await here.round()
  t.like(await here.finding('destination.resting'), { subject: 'dst_1', projectId, daemon: '', severity: 'error' })
  t.regex(
    await here.summary('destination.resting'),
    /^The destination Provider has been paused since 2030-.*: its host refuses the connection\. 5 messages wait for it\.$/,
  )
  t.like(await here.finding('destination.resting'), { params: { waiting: 5 } })
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

test('destination.resting: ends when another daemon delivers and this one has no mail for a trial', async (t) => {
  const here = Watched.withoutRounds(await coreFixture(t))
  const { fixture } = here
  await fixture.destination()
  const running = new Set(['one', 'two'])
  const [one, two] = [new WatchingDaemon(fixture, 'one', running), new WatchingDaemon(fixture, 'two', running)]
  const deliver = async (): Promise<void> => {
    await here.count((change, now) => countAttempt(change, place, delivered, now))
    await two.look()
    await one.look()
  }
  const since = here.now
  const until = since + 10 * minute
  one.breaker = { phase: 'open', since, reason: '', cause: null, until }
  await one.look()
  fixture.clock.advance(5 * minute)
  await deliver()
  t.like(await here.finding('destination.resting'), { daemon: 'one' }, 'mail of this daemon waits')
  fixture.clock.advance(5 * minute)
  one.breaker = { ...one.breaker, phase: 'half_open' }
  await one.look()
  t.truthy(await here.finding('destination.resting'), 'no mail was accepted after the pause')
  await deliver()
  t.truthy(await here.finding('destination.resting'), 'a trial can be in progress')
  fixture.clock.advance(minute)
  await deliver()
  t.is(await here.finding('destination.resting'), undefined)
  fixture.clock.advance(2 * day)
  await one.look()
  t.is(await here.finding('destination.resting'), undefined, 'also when the counts have ended')
  one.breaker = { phase: 'open', since: here.now, reason: '', cause: null, until: here.now + minute }
  await one.look()
  fixture.clock.advance(3 * hour)
  one.breaker = { ...one.breaker, phase: 'half_open' }
  await one.look()
  t.truthy(await here.finding('destination.resting'), 'without any mail')
})
