/** Brute force on SMTP AUTH: delays by user and by address, and their limits. */
import test from '#test'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import { LoginGuard } from '#core/visitors/login-guard.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { column } from '../../support/column.ts'

const limits = { windowMs: 60_000, failuresPerUser: 3, failuresPerAddress: 5 }
const guardOf = () => {
  const clock = new FakeClock()
  const guard = new LoginGuard({ clock, database: { daemons: new OneDaemon() } }, limits)
  const isOpen = (user: string, address: string): Promise<boolean> =>
    guard.check(user, address).then(
      () => true,
      () => false,
    )
  const fail = async (user: string, address: string, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await guard.failed(user, address)
  }
  /** Returns whether a wrong login from the address must wait. It counts as one. */
  const isCrowded = async (address: string): Promise<boolean> => (await guard.failed('nobody', address)).code === 'rate_limit_exceeded'
  return { clock, guard, isOpen, fail, isCrowded }
}

test('LoginGuard.check() delays a user after too many failures from any address', async (t) => {
  const { guard, isOpen, fail } = guardOf()
  await fail('anna', '192.0.2.1', 2)
  t.true(await isOpen('anna', '192.0.2.1'))
  await guard.failed('anna', '192.0.2.2')
  t.false(await isOpen('anna', '192.0.2.9'))
  t.true(await isOpen('ben', '192.0.2.1'))
  await t.throwsAsync(() => guard.check('anna', '192.0.2.9'), {
    code: 'rate_limit_exceeded',
    message: 'Too many failed logins; wait 15 minutes and try again.',
  })
})

test('LoginGuard.failed() delays an address that tries many users, and no correct login', async (t) => {
  const { guard, isOpen, fail } = guardOf()
  for (const user of ['a', 'b', 'c', 'd', 'e']) await fail(user, '192.0.2.1', 1)
  t.is((await guard.failed('f', '192.0.2.1')).code, 'rate_limit_exceeded')
  t.is((await guard.failed('g', '::ffff:192.0.2.1')).code, 'rate_limit_exceeded')
  t.is((await guard.failed('h', '192.0.2.2')).code, 'unauthorized')
  t.true(await isOpen('i', '192.0.2.1'), 'the right password is accepted')
})

test('LoginGuard counts IPv6 addresses by their /64', async (t) => {
  const { fail, isCrowded } = guardOf()
  for (let i = 0; i < 5; i++) await fail(`u${i}`, `2001:db8:1:2:${i}::1`, 1)
  t.true(await isCrowded('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  t.true(await isCrowded('2001:db8:1:2::'))
  t.false(await isCrowded('2001:db8:1:3::1'))
  t.false(await isCrowded('2001:db8::1:2:0:1'))
  for (let i = 0; i < 5; i++) await fail(`v${i}`, '2001:db8::7', 1)
  t.true(await isCrowded('2001:db8:0:0:9::1'), 'omitted zeros are zeros')
})

test('LoginGuard forgets failures only when they leave the window', async (t) => {
  const { clock, isOpen, fail } = guardOf()
  await fail('anna', '192.0.2.1', 2)
  clock.advance(30_000)
  await fail('anna', '192.0.2.1', 1)
  t.false(await isOpen('anna', '192.0.2.1'))
  clock.advance(29_999)
  t.false(await isOpen('anna', '192.0.2.1'))
  clock.advance(1)
  t.true(await isOpen('anna', '192.0.2.1'))
  await fail('anna', '192.0.2.1', 2)
  t.false(await isOpen('anna', '192.0.2.1'))
})

test('LoginGuard ignores changes of the wall clock', async (t) => {
  const { clock, isOpen, fail } = guardOf()
  await fail('anna', '192.0.2.1', 3)
  clock.step(3_600_000)
  t.false(await isOpen('anna', '192.0.2.1'))
  clock.step(-7_200_000)
  clock.advance(60_000)
  t.true(await isOpen('anna', '192.0.2.1'))
})

test('LoginGuard.succeeded() clears the user, but not the address', async (t) => {
  const { guard, isOpen, fail, isCrowded } = guardOf()
  await fail('anna', '192.0.2.1', 3)
  await fail('ben', '192.0.2.1', 2)
  await guard.succeeded('anna', '192.0.2.1', await guard.check('anna', '192.0.2.1').catch(() => 3))
  t.true(await isOpen('anna', '192.0.2.2'))
  t.true(await isCrowded('192.0.2.1'))
})

test('LoginGuard limits its memory during a flood of names', async (t) => {
  const { guard, isOpen, fail, isCrowded } = guardOf()
  await fail('anna', '192.0.2.1', 3)
  for (let i = 0; i < 60_000; i++) await guard.failed(`user ${i}`, '198.51.100.1')
  t.true(await isOpen('anna', '192.0.2.1'), 'the oldest are forgotten')
  t.true(await isCrowded('198.51.100.1'), 'the flooding address is still counted')
  t.is(guard.list().length, 1000)
})

test('LoginGuard accepts a user from an address that logged in before, despite failures', async (t) => {
  const { guard, isOpen, fail } = guardOf()
  await guard.succeeded('anna', '192.0.2.7', await guard.check('anna', '192.0.2.7').catch(() => 3))
  for (let i = 0; i < 100; i++) await fail('anna', `198.51.100.${i}`, 1)
  t.false(await isOpen('anna', '203.0.113.1'))
  t.true(await isOpen('anna', '192.0.2.7'))
})

test('LoginGuard.list() names user, address and number of failures, the latest first', async (t) => {
  const { clock, guard, fail } = guardOf()
  await fail('anna', '192.0.2.1', 3)
  await t.throwsAsync(() => guard.check('anna', '192.0.2.1'))
  const first = clock.now()
  clock.advance(1000)
  await fail(`ben${'n'.repeat(100)}`, '2001:db8:1:2::7', 1)
  const rows = guard.list()
  t.deepEqual(rows, [
    { address: '2001:db8:1:2', username: `ben${'n'.repeat(61)}`, failures: 1, lastAt: first + 1000, blocked: null },
    { address: '192.0.2.1', username: 'anna', failures: 4, lastAt: first, blocked: 'user' },
  ])
  clock.advance(59_000)
  t.deepEqual(column(guard.list(), 'failures'), [1])
})
