/** Quick checks of logins: what one daemon knows from its attempts and probes. */
import test from '#test'
import { countAttempt } from '#core/insights/count.ts'
import { failoverPolicies } from '#core/routing/failover-policy.ts'
import { coreFixture, organizationId, principal, projectId, relaying } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { minute, place, Watched } from './watched.ts'
import { delivered, WatchingDaemon } from './watching-daemon.ts'

const refusedStep = { step: 'auth', ok: false, detail: 'The login was refused.', milliseconds: 1, code: 'auth_failed' }
const goodStep = { step: 'auth', ok: true, detail: 'Signed in.', milliseconds: 1 }

test('destination.login_refused: two refused attempts in a row, until an attempt signs in', async (t) => {
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient', 'auth_failed')))
  const { fixture } = here
  await fixture.submit()
  await here.round()
  t.deepEqual(await here.open(), [], 'after one attempt')
  await fixture.submit()
  await here.round()
  t.like(await here.finding('destination.login_refused'), { subject: 'dst_1', projectId, daemon: '', severity: 'error' })
  t.is(
    await here.summary('destination.login_refused'),
    'The provider of the destination Provider refuses its login (auth_failed). Its mail waits in the queue.',
  )
  fixture.transport.script = (call) => take(call)
  await fixture.submit()
  await here.pass(2 * minute)
  t.false((await here.open()).includes('destination.login_refused error'))
})

test('destination.login_refused: a refused attempt between others is none', async (t) => {
  const errors = ['auth_failed', undefined, 'auth_failed']
  const here = await Watched.of(await relaying(t, (call) => report(call, 'transient', errors.shift())))
  for (let n = 0; n < 3; n++) {
    await here.fixture.submit()
    await here.fixture.settled()
  }
  await here.round()
  t.false((await here.open()).includes('destination.login_refused error'))
})

test('destination.login_refused: one refused probe of a live destination, and the fallback', async (t) => {
  const here = await Watched.of(await coreFixture(t))
  const { fixture } = here
  await fixture.destination({ mode: 'sandbox' })
  await fixture.destination({ id: 'dst_2', name: 'Spare' })
  fixture.transport.probe = async () => [refusedStep]
  await fixture.core.probes.test(principal, 'dst_1')
  await here.round()
  t.deepEqual(await here.open(), [], 'it is in sandbox mode')
  const policy = { id: 'fop_1', projectId, primaryId: 'dst_1', fallbackIds: ['dst_2'], on: ['misconfigured' as const], latencyMs: null }
  await fixture.put(failoverPolicies, { ...policy, createdAt: startOfTime, updatedAt: startOfTime })
  await fixture.destination({ mode: 'live' })
  await fixture.core.probes.test(principal, 'dst_1')
  await here.round()
  t.regex(await here.summary('destination.login_refused'), /Spare delivers its mail meanwhile\.$/)
  fixture.transport.probe = async () => [goodStep]
  await fixture.core.probes.test(principal, 'dst_1')
  await here.round()
  t.deepEqual(await here.open(), [])
})

test('destination.login_refused: the first check of changed settings', async (t) => {
  const here = await Watched.of(await coreFixture(t))
  const { fixture } = here
  await fixture.destination()
  const { destinations } = await fixture.policies.of(organizationId)
  const destination = destinations.get('dst_1')
  if (!destination) return t.fail()
  fixture.transport.probe = async () => [refusedStep]
  t.is((await fixture.core.probes.firstLook(organizationId, destination)).length, 1)
  await here.round()
  t.deepEqual(await here.open(), ['destination.login_refused error'])
})

test('destination.login_refused: the next process tests the destination, and keeps the finding until then', async (t) => {
  const first = await Watched.of(await relaying(t, (call) => report(call, 'transient', 'auth_failed')))
  for (let n = 0; n < 2; n++) await first.fixture.submit()
  await first.round()
  const here = await Watched.of(await first.fixture.crash())
  const answers = [[refusedStep], [goodStep]]
  here.fixture.transport.probe = async () => answers.shift() ?? []
  await here.round()
  t.true((await here.open()).includes('destination.login_refused error'))
  t.is(answers.length, 1)
  await here.fixture.core.probes.test(principal, 'dst_1')
  await here.round()
  t.false((await here.open()).includes('destination.login_refused error'))
})

test('destination.login_refused: a refused daemon keeps it open while another daemon signs in', async (t) => {
  const here = Watched.withoutRounds(await coreFixture(t))
  await here.fixture.destination()
  const running = new Set(['one', 'two'])
  const [one, two] = [new WatchingDaemon(here.fixture, 'one', running), new WatchingDaemon(here.fixture, 'two', running)]
  const seen: unknown[] = []
  const looks = async (): Promise<void> => {
    for (const daemon of [one, two]) {
      await daemon.look()
      const found = await here.finding('destination.login_refused')
      seen.push(found && [found.id, found.daemon, found.changedAt])
    }
  }
  one.login = { refusals: 2, code: 'auth_failed', refusedAt: here.now }
  two.login = { refusals: 0, code: null, refusedAt: null }
  await looks()
  for (let n = 0; n < 4; n++) {
    here.fixture.clock.advance(minute)
    await here.count((change, now) => countAttempt(change, place, delivered, now))
    await looks()
  }
  t.deepEqual(
    seen.filter((found) => JSON.stringify(found) !== JSON.stringify(seen[0])),
    [],
    'opened once, and did not change',
  )
  t.true(one.probes > 0, 'the refused daemon tests whether it signs in')
  t.is(two.probes, 0)
  two.login = { refusals: 2, code: 'auth_failed', refusedAt: here.now - minute }
  one.login = { refusals: 0, code: null, refusedAt: null }
  await one.look()
  await two.look()
  t.deepEqual(await here.open(), [], 'its refusals are older than accepted mail')
})

test('destination.login_refused: a daemon that has left keeps it open until another one signs in', async (t) => {
  const here = Watched.withoutRounds(await coreFixture(t))
  await here.fixture.destination()
  const running = new Set(['one', 'two'])
  const [one, two] = [new WatchingDaemon(here.fixture, 'one', running), new WatchingDaemon(here.fixture, 'two', running)]
  one.login = { refusals: 2, code: 'auth_failed', refusedAt: here.now }
  await one.look()
  running.delete('one')
  await two.look()
  t.deepEqual(await here.open(), ['destination.login_refused error'])
  two.login = { refusals: 0, code: null, refusedAt: null }
  await two.look()
  t.deepEqual(await here.open(), [])
})
