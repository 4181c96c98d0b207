import type { ExecutionContext } from 'ava'
import test from '#test'
import type { Resolver } from '#core/outbound/resolver.ts'
import { addressesOf, ResolveError, SystemResolver } from '#core/outbound/resolver.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { NameServer } from './name-server.ts'

async function setUp(
  t: ExecutionContext,
): Promise<{ readonly names: NameServer; readonly clock: FakeClock; readonly resolver: SystemResolver }> {
  const names = new NameServer()
  t.teardown(() => names[Symbol.asyncDispose]())
  const clock = new FakeClock()
  return { names, clock, resolver: new SystemResolver({ servers: [await names.listen()], clock }) }
}

const problemOf = async (t: ExecutionContext, work: Promise<unknown>): Promise<string | undefined> =>
  (await t.throwsAsync(work, { instanceOf: ResolveError }))?.problem

test('resolve4(): queries the given server once within the TTL', async (t) => {
  const { names, clock, resolver } = await setUp(t)
  names.zones.set('mail.test', { a: ['192.0.2.1', '192.0.2.2'], ttl: 30 })
  const both = await Promise.all([resolver.resolve4('mail.test'), resolver.resolve4('MAIL.test')])
  t.deepEqual(
    both.map((found) => [...found].sort()),
    [
      ['192.0.2.1', '192.0.2.2'],
      ['192.0.2.1', '192.0.2.2'],
    ],
  )
  clock.advance(29_000)
  await resolver.resolve4('mail.test')
  t.deepEqual(names.questions, ['mail.test A'])
  names.zones.set('mail.test', { a: ['192.0.2.3'], ttl: 86_400 })
  clock.advance(1_000)
  t.deepEqual(await resolver.resolve4('mail.test'), ['192.0.2.3'])
  t.is(names.questions.length, 2)
  clock.advance(60_000)
  await resolver.resolve4('mail.test')
  t.is(names.questions.length, 3)
})

test('resolve4(): each resolver has its own cache', async (t) => {
  const one = await setUp(t)
  const two = await setUp(t)
  one.names.zones.set('mail.test', { a: ['192.0.2.1'] })
  two.names.zones.set('mail.test', { a: ['192.0.2.2'] })
  t.deepEqual([await one.resolver.resolve4('mail.test'), await two.resolver.resolve4('mail.test')], [['192.0.2.1'], ['192.0.2.2']])
})

test('addressesOf(): reports missing, failed and silent lookups', async (t) => {
  const { names, clock, resolver } = await setUp(t)
  names.zones.set('empty.test', {})
  names.zones.set('broken.test', { rcode: 2 })
  names.zones.set('silent.test', { silent: true })
  t.is(await problemOf(t, addressesOf(resolver, 'missing.test')), 'not_found')
  t.is(await problemOf(t, addressesOf(resolver, 'empty.test')), 'not_found')
  t.is(await problemOf(t, addressesOf(resolver, 'broken.test')), 'failed')
  const late = problemOf(t, addressesOf(resolver, 'silent.test'))
  clock.advance(5_000)
  t.is(await late, 'timeout')
  names.zones.set('broken.test', { a: ['192.0.2.9'] })
  t.deepEqual(await addressesOf(resolver, 'broken.test'), ['192.0.2.9'])
})

test('addressesOf(): waits for silent name servers once within a second', async (t) => {
  const { names, clock, resolver } = await setUp(t)
  names.zones.set('silent.test', { silent: true })
  const late = problemOf(t, addressesOf(resolver, 'silent.test'))
  clock.advance(5_000)
  t.is(await late, 'timeout')
  clock.advance(999)
  t.is(await problemOf(t, addressesOf(resolver, 'silent.test')), 'timeout', 'immediately')
  names.zones.set('silent.test', { a: ['192.0.2.9'] })
  clock.advance(1)
  t.deepEqual(await addressesOf(resolver, 'silent.test'), ['192.0.2.9'])
})

test('addressesOf(): knows the names of the host itself', async (t) => {
  t.true((await addressesOf(new SystemResolver(), 'localhost')).includes('127.0.0.1'))
})

test('addressesOf(): returns literals unchanged and alternates between families', async (t) => {
  const resolver: Resolver = {
    resolve4: () => Promise.resolve(['192.0.2.1', '192.0.2.2', '192.0.2.3']),
    resolve6: () => Promise.resolve(['2001:db8::1']),
  }
  t.deepEqual(await addressesOf(resolver, '192.0.2.9'), ['192.0.2.9'])
  t.deepEqual(await addressesOf(resolver, '::1'), ['::1'])
  t.deepEqual(await addressesOf(resolver, 'mail.test'), ['2001:db8::1', '192.0.2.1', '192.0.2.2', '192.0.2.3'])
})

test('addressesOf(): a failed family does not hide the other one', async (t) => {
  const resolver: Resolver = {
    resolve4: () => Promise.resolve(['192.0.2.1']),
    resolve6: () => Promise.reject(new ResolveError('failed', 'no')),
  }
  t.deepEqual(await addressesOf(resolver, 'mail.test'), ['192.0.2.1'])
})

test('resolveTxt(): joins the strings of a record and follows a CNAME', async (t) => {
  const { names, resolver } = await setUp(t)
  names.zones.set('key.test', { txt: [['v=DKIM1; p=', 'abc', 'def'], ['other']] })
  names.zones.set('alias.test', { cname: 'key.test' })
  t.deepEqual(await resolver.resolveTxt('key.test'), ['v=DKIM1; p=abcdef', 'other'])
  t.deepEqual(await resolver.resolveTxt('alias.test'), ['v=DKIM1; p=abcdef', 'other'])
})

test('resolveTxt(), resolveMx(): return an empty list for missing records, uncached', async (t) => {
  const { names, resolver } = await setUp(t)
  t.deepEqual(await resolver.resolveTxt('missing.test'), [])
  names.zones.set('missing.test', { mx: [{ priority: 10, exchange: 'mx.test' }] })
  t.deepEqual(await resolver.resolveTxt('missing.test'), [])
  t.deepEqual(await resolver.resolveMx('missing.test'), [{ priority: 10, exchange: 'mx.test' }])
  t.deepEqual(names.questions, ['missing.test TXT', 'missing.test TXT', 'missing.test MX'])
})

test('resolveTxt(): throws for failed and silent lookups', async (t) => {
  const { names, clock, resolver } = await setUp(t)
  names.zones.set('broken.test', { rcode: 2 })
  names.zones.set('silent.test', { silent: true })
  t.is(await problemOf(t, resolver.resolveTxt('broken.test')), 'failed')
  const late = problemOf(t, resolver.resolveMx('silent.test'))
  clock.advance(5_000)
  t.is(await late, 'timeout')
})
