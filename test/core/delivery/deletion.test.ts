/** Deletions before, during and after attempts send nothing twice and leave nothing. */
import test from '#test'
import { discardTrace } from '#core/retention/remove-trace.ts'
import { destinations } from '#core/routing/destination.ts'
import { organizationId, relaying } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'

const minute = 60_000
const hour = 60 * minute

test('deletion: a destination deleted during an attempt gets the result and no retry', async (t) => {
  const answers = [Promise.withResolvers<'accepted' | 'transient'>(), Promise.withResolvers<'accepted' | 'transient'>()]
  const fixture = await relaying(t, async (call) => {
    const verdict = await answers[call.job.rcptTo[0] === 'anna@example.net' ? 0 : 1]?.promise
    return take(call, verdict)
  })
  const accepted = await fixture.submit({ rcptTo: ['anna@example.net'] })
  const deferred = await fixture.submit({ rcptTo: ['ben@example.net'] })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2, 'both attempts are in flight')
  await fixture.remove(destinations, 'dst_1')
  answers[0]?.resolve('accepted')
  answers[1]?.resolve('transient')
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'both attempts ended')
  t.is((await fixture.trace(accepted.traceId)).status, 'sent')
  t.is((await fixture.trace(deferred.traceId)).status, 'queued')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 3, 'given up')
  t.is((await fixture.trace(deferred.traceId)).status, 'failed')
  t.regex((await fixture.details(deferred.traceId)).join('\n'), /The destination was deleted before the message could be delivered\./)
  t.is(fixture.transport.calls.length, 2)
  t.is(await fixture.queueLength(), 0)
})

test('deletion: a trace deleted during its attempt leaves nothing behind', async (t) => {
  const verdicts = ['accepted', 'transient', 'permanent', 'unknown'] as const
  for (const [verdict, isWritten] of verdicts.flatMap((one) => [[one, true] as const, [one, false] as const])) {
    const what = `${verdict}, ${isWritten ? 'written before' : 'written afterwards'}`
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const fixture = await relaying(t, async (call) => {
      if (isWritten) await call.job.beforeFinalDot()
      begun.resolve()
      await answer.promise
      if (!isWritten) await call.job.beforeFinalDot()
      return report(call, verdict)
    })
    const { traceId } = await fixture.submit()
    await begun.promise
    t.true(await discardTrace(fixture.database, organizationId, traceId))
    answer.resolve()
    await fixture.settled()
    fixture.clock.advance(24 * hour)
    await fixture.settled()
    t.is(fixture.transport.calls.length, 1, what)
    t.is(await fixture.queueLength(), 0, what)
    t.deepEqual(await fixture.keys(traceId), [], what)
  }
})

test('deletion: a deleted trace with a due attempt is not sent', async (t) => {
  const fixture = await relaying(t, (call) => take(call), { deaf: true })
  const { traceId } = await fixture.submit()
  const entry = fixture.queued[0]
  if (!entry) throw new Error('nothing was queued')
  t.true(await discardTrace(fixture.database, organizationId, traceId))
  fixture.offer(entry)
  await fixture.settled()
  t.deepEqual(fixture.transport.calls, [])
  t.deepEqual(await fixture.keys(traceId), [])
})

test('deletion: nothing is sent if project or destination is deleted during a read', async (t) => {
  for (const what of ['project', 'destination'] as const) {
    for (let nth = 1; ; nth++) {
      const fixture = await relaying(t, (call) => take(call), { deaf: true })
      await fixture.submit()
      const [entry] = fixture.queued
      if (!entry) throw new Error('nothing was queued')
      const { policies } = fixture
      const of = policies.of.bind(policies)
      let reads = 0
      policies.of = async (id) => {
        const read = await of(id)
        if (++reads !== nth || fixture.transport.calls.length > 0) return read
        // the result of the read is outdated now
        if (what === 'project') await fixture.project({ deletedAt: fixture.clock.now() })
        else await fixture.remove(destinations, 'dst_1')
        return read
      }
      fixture.offer(entry)
      await fixture.settled()
      if (reads < nth) {
        t.true(nth > 1, 'settings are read')
        break
      }
      t.deepEqual(fixture.transport.calls, [], `${what}, read ${nth}`)
      t.is(await fixture.queueLength(), 0, `${what}, read ${nth}`)
    }
  }
})
