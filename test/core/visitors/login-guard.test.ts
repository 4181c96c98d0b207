/** Brute force on SMTP AUTH: who is held off, for how long, and who is not. */
import test from 'ava'
import { LoginGuard } from '#core/visitors/login-guard.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { column } from '../../support/column.ts'

const limits = { windowMs: 60_000, failuresPerUser: 3, failuresPerAddress: 5 }
const guardOf = () => {
  const clock = new FakeClock()
  const guard = new LoginGuard(clock, limits)
  const isOpen = (user: string, address: string): boolean => {
    try {
      guard.check(user, address)
      return true
    } catch {
      return false
    }
  }
  const fail = (user: string, address: string, times: number): void => {
    for (let i = 0; i < times; i++) guard.failed(user, address)
  }
  /** Whether a wrong login from there has to wait; it counts as one. */
  const isCrowded = (address: string): boolean => guard.failed('nobody', address).code === 'rate_limit_exceeded'
  return { clock, guard, isOpen, fail, isCrowded }
}

test('LoginGuard.check() holds a user off after too many failures, from anywhere', (t) => {
  const { guard, isOpen, fail } = guardOf()
  fail('anna', '192.0.2.1', 2)
  t.true(isOpen('anna', '192.0.2.1'))
  guard.failed('anna', '192.0.2.2')
  t.false(isOpen('anna', '192.0.2.9'))
  t.true(isOpen('ben', '192.0.2.1'))
  t.throws(() => guard.check('anna', '192.0.2.9'), {
    code: 'rate_limit_exceeded',
    message: 'Too many failed logins; wait 15 minutes and try again.',
  })
})

test('LoginGuard.failed() tells an address that sprays users to wait, and check() locks nobody else behind it out', (t) => {
  const { guard, isOpen, fail } = guardOf()
  for (const user of ['a', 'b', 'c', 'd', 'e']) fail(user, '192.0.2.1', 1)
  t.is(guard.failed('f', '192.0.2.1').code, 'rate_limit_exceeded')
  t.is(guard.failed('g', '::ffff:192.0.2.1').code, 'rate_limit_exceeded')
  t.is(guard.failed('h', '192.0.2.2').code, 'unauthorized')
  t.true(isOpen('i', '192.0.2.1'), 'whose password is right gets in')
})

test('LoginGuard counts IPv6 addresses by their /64', (t) => {
  const { fail, isCrowded } = guardOf()
  for (let i = 0; i < 5; i++) fail(`u${i}`, `2001:db8:1:2:${i}::1`, 1)
  t.true(isCrowded('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  t.true(isCrowded('2001:db8:1:2::'))
  t.false(isCrowded('2001:db8:1:3::1'))
  t.false(isCrowded('2001:db8::1:2:0:1'))
  for (let i = 0; i < 5; i++) fail(`v${i}`, '2001:db8::7', 1)
  t.true(isCrowded('2001:db8:0:0:9::1'), 'zeros left out are zeros')
})

test('LoginGuard forgets failures as the window slides on, and not before', (t) => {
  const { clock, isOpen, fail } = guardOf()
  fail('anna', '192.0.2.1', 2)
  clock.advance(30_000)
  fail('anna', '192.0.2.1', 1)
  t.false(isOpen('anna', '192.0.2.1'))
  clock.advance(29_999)
  t.false(isOpen('anna', '192.0.2.1'))
  clock.advance(1)
  t.true(isOpen('anna', '192.0.2.1'))
  fail('anna', '192.0.2.1', 2)
  t.false(isOpen('anna', '192.0.2.1'))
})

test('LoginGuard does not care for the wall clock', (t) => {
  const { clock, isOpen, fail } = guardOf()
  fail('anna', '192.0.2.1', 3)
  clock.step(3_600_000)
  t.false(isOpen('anna', '192.0.2.1'))
  clock.step(-7_200_000)
  clock.advance(60_000)
  t.true(isOpen('anna', '192.0.2.1'))
})

test('LoginGuard.succeeded() clears the user, but not the address', (t) => {
  const { guard, isOpen, fail, isCrowded } = guardOf()
  fail('anna', '192.0.2.1', 3)
  fail('ben', '192.0.2.1', 2)
  guard.succeeded('anna', '192.0.2.1')
  t.true(isOpen('anna', '192.0.2.2'))
  t.true(isCrowded('192.0.2.1'))
})

test('LoginGuard keeps its memory under a flood of names', (t) => {
  const { guard, isOpen, fail, isCrowded } = guardOf()
  fail('anna', '192.0.2.1', 3)
  for (let i = 0; i < 60_000; i++) guard.failed(`user ${i}`, '198.51.100.1')
  t.true(isOpen('anna', '192.0.2.1'), 'the oldest are forgotten')
  t.true(isCrowded('198.51.100.1'), 'who floods is not')
  t.is(guard.list().length, 1000)
})

test('LoginGuard lets a user in from where they logged in before, whatever others try elsewhere', (t) => {
  const { guard, isOpen, fail } = guardOf()
  guard.succeeded('anna', '192.0.2.7')
  for (let i = 0; i < 100; i++) fail('anna', `198.51.100.${i}`, 1)
  t.false(isOpen('anna', '203.0.113.1'))
  t.true(isOpen('anna', '192.0.2.7'))
})

test('LoginGuard.list() names who tried to log in, from where and how often, the latest first, as long as the window lasts', (t) => {
  const { clock, guard, fail } = guardOf()
  fail('anna', '192.0.2.1', 3)
  t.throws(() => guard.check('anna', '192.0.2.1'))
  const first = clock.now()
  clock.advance(1000)
  fail(`ben${'n'.repeat(100)}`, '2001:db8:1:2::7', 1)
  const rows = guard.list()
  t.deepEqual(rows, [
    { address: '2001:db8:1:2', username: `ben${'n'.repeat(61)}`, failures: 1, lastAt: first + 1000, blocked: null },
    { address: '192.0.2.1', username: 'anna', failures: 4, lastAt: first, blocked: 'user' },
  ])
  clock.advance(59_000)
  t.deepEqual(column(guard.list(), 'failures'), [1])
})
