/** Reads of a queue count, and its end. */
import test, { type ExecutionContext } from '#test'
import { countQueue, type QueueCounts } from '#core/delivery/acts/queue-counts.ts'
import type { QueueWalk } from '#core/delivery/acts/queue-walk.ts'
import { organizationId, principal, relaying, type CoreFixture } from '../../core-fixture.ts'
import { report } from '../../scripted-transport.ts'
import { overhear } from '../../../support/overhear.ts'
import { act } from './acting.ts'

const messages = 12

async function queued(t: ExecutionContext): Promise<CoreFixture> {
  const fixture = await relaying(t, (call) => report(call, 'transient'))
  for (let i = 0; i < messages; i++) await fixture.submit({ rcptTo: [`r${i}@example.net`] })
  await fixture.settled()
  fixture.clock.advance(1)
  return fixture
}

async function counted(fixture: CoreFixture, walk: Pick<QueueWalk, 'filter' | 'isHeld'>, most?: number): Promise<QueueCounts> {
  return countQueue(fixture.database, { organizationId, policy: await fixture.core.policies.of(organizationId), ...walk }, most)
}

test('queue counts: read no trace if queue rows suffice, and otherwise each trace once', async (t) => {
  const fixture = await queued(t)
  const { database } = fixture
  let read = 0
  overhear(database.kv, 'getMany', (keys) => (read += keys.length))
  const readsOf = async (walk: Pick<QueueWalk, 'filter' | 'isHeld'>): Promise<readonly [number, number]> => {
    read = 0
    const { matched } = await counted(fixture, walk)
    return [matched, read]
  }
  const now = fixture.clock.now()
  const ofRows = [{}, { acceptedBefore: now }, { acceptedAfter: 1, minAttempts: 1 }, { destinationId: 'dst_1', acceptedBefore: now }]
  for (const filter of ofRows) t.deepEqual(await readsOf({ filter }), [messages, 0], JSON.stringify(filter))
  t.deepEqual(await readsOf({ filter: { acceptedBefore: 1 } }), [0, 0])
  t.deepEqual(await readsOf({ filter: { from: 'nobody@example.net', acceptedBefore: now } }), [0, messages])
  t.deepEqual(await readsOf({ filter: { from: 'nobody@example.net', acceptedBefore: 1 } }), [0, 0])
  t.deepEqual(await readsOf({ filter: { toDomain: 'example.net' } }), [messages, messages])
  await act(fixture, { act: 'hold', filter: { destinationId: 'dst_1' } })
  fixture.clock.advance(1)
  t.deepEqual(await readsOf({ filter: { acceptedBefore: fixture.clock.now() }, isHeld: true }), [messages, 0], 'held messages')
  await fixture.assertSound(t)
})

test('queue counts: complete at the limit, and report their end beyond it', async (t) => {
  const fixture = await queued(t)
  t.like(await counted(fixture, { filter: {} }, messages), { matched: messages, complete: true, until: null })
  await fixture.submit({ rcptTo: ['one-more@example.net'] })
  await fixture.settled()
  t.like(await counted(fixture, { filter: {} }, messages + 1), { matched: messages + 1, complete: true })
  t.is((await fixture.core.queueActs.waiting(principal, { limit: 5 })).rows.length, 5)
})
