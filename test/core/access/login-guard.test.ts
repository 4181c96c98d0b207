/** Brute force on SMTP AUTH: who is held off, for how long, and who is not. */
import test from 'ava'
import { LoginGuard } from '#core/access/login-guard.ts'
import { FakeClock } from '../fake-clock.ts'

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
  return { clock, guard, isOpen, fail }
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
    message: 'Too many failed logins; wait a quarter of an hour and try again.',
  })
})

test('LoginGuard.check() holds an address off that sprays users', (t) => {
  const { isOpen, fail } = guardOf()
  for (const user of ['a', 'b', 'c', 'd', 'e']) fail(user, '192.0.2.1', 1)
  t.false(isOpen('f', '192.0.2.1'))
  t.false(isOpen('f', '::ffff:192.0.2.1'))
  t.true(isOpen('f', '192.0.2.2'))
})

test('LoginGuard counts IPv6 addresses by their /64', (t) => {
  const { isOpen, fail } = guardOf()
  for (let i = 0; i < 5; i++) fail(`u${i}`, `2001:db8:1:2:${i}::1`, 1)
  t.false(isOpen('x', '2001:db8:1:2:ffff:ffff:ffff:ffff'))
  t.false(isOpen('x', '2001:db8:1:2::'))
  t.true(isOpen('x', '2001:db8:1:3::1'))
  t.true(isOpen('x', '2001:db8::1:2:0:1'))
  for (let i = 0; i < 5; i++) fail(`v${i}`, '2001:db8::7', 1)
  t.false(isOpen('x', '2001:db8:0:0:9::1'), 'zeros left out are zeros')
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
  const { guard, isOpen, fail } = guardOf()
  fail('anna', '192.0.2.1', 3)
  fail('ben', '192.0.2.1', 2)
  guard.succeeded('anna', '192.0.2.1')
  t.true(isOpen('anna', '192.0.2.2'))
  t.false(isOpen('anna', '192.0.2.1'))
})

test('LoginGuard keeps its memory under a flood of names', (t) => {
  const { guard, isOpen, fail } = guardOf()
  fail('anna', '192.0.2.1', 3)
  for (let i = 0; i < 60_000; i++) guard.failed(`user ${i}`, '198.51.100.1')
  t.true(isOpen('anna', '192.0.2.1'), 'the oldest are forgotten')
  t.false(isOpen('x', '198.51.100.1'), 'who floods is not')
})

test('LoginGuard lets a user in from where they logged in before, whatever others try elsewhere', (t) => {
  const { guard, isOpen, fail } = guardOf()
  guard.succeeded('anna', '192.0.2.7')
  for (let i = 0; i < 100; i++) fail('anna', `198.51.100.${i}`, 1)
  t.false(isOpen('anna', '203.0.113.1'))
  t.true(isOpen('anna', '192.0.2.7'))
})
