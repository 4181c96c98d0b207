/** Acts reach messages that an attempt moves while the act runs. */
import test, { type ExecutionContext } from '#test'
import type { QueueActName } from '#core/trace/acts/act-record.ts'
import { failoverPolicies } from '#core/routing/failover-policy.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { coreFixture, factsDefaults, projectId, relaying, type CoreFixture } from '../../core-fixture.ts'
import { report, ScriptedTransport } from '../../scripted-transport.ts'
import { beforeFirstMessage, begun, ended, states, steered } from './acting.ts'

const hour = 60 * 60_000

const held = (name: QueueActName) => (name === 'hold' ? ['held'] : [])

test('hold and drop: reach a message whose attempt ends after the walk read its entry', async (t) => {
  for (const name of ['hold', 'drop'] as const) {
    const way = steered()
    const fixture = await relaying(t, way.script)
    const { traceId } = await fixture.submit()
    way.mayDot.resolve()
    await way.dotted.promise
    beforeFirstMessage(fixture, async () => {
      way.mayEnd.resolve()
      await fixture.daemon.saw('attempted')
    })
    const made = await begun(fixture, { act: name, filter: { destinationId: 'dst_1' } })
    t.like(await ended(fixture, made), { status: 'finished', counters: { acted: 1, inFlight: 0 } }, name)
    t.deepEqual(await states(fixture), held(name), name)
    t.like(await fixture.trace(traceId), { status: name === 'hold' ? 'queued' : 'canceled', attempts: 1 })
    await fixture.assertSound(t, name)
  }
})

test('drop: excludes a message delivered to the matching recipient during the walk', async (t) => {
  const way = steered()
  const fixture = await relaying(t, async (call) => {
    await way.script(call)
    return report(call, { 'anna@one.example': 'accepted', 'ben@two.example': 'transient' })
  })
  const { traceId } = await fixture.submit({ rcptTo: ['anna@one.example', 'ben@two.example'] })
  way.mayDot.resolve()
  await way.dotted.promise
  beforeFirstMessage(fixture, async () => {
    way.mayEnd.resolve()
    await fixture.daemon.saw('attempted')
  })
  const made = await begun(fixture, { act: 'drop', filter: { toDomain: 'one.example' } })
  t.like(await ended(fixture, made), { status: 'finished', counters: { acted: 0 } })
  t.like(await fixture.trace(traceId), { status: 'queued', recipients: [{ status: 'sent' }, { status: 'queued' }] })
})

test('hold and drop: leave at most one entry when a defect ends the attempt', async (t) => {
  for (const name of ['hold', 'drop'] as const) {
    const way = steered()
    const fixture = await relaying(t, async () => {
      way.began.resolve()
      await way.mayEnd.promise
      throw new Error('a defect')
    })
    await fixture.submit()
    await way.began.promise
    const mayRest = Promise.withResolvers<void>()
    const rests = Promise.withResolvers<void>()
    fixture.kv.beforeWrite = () => {
      fixture.kv.beforeWrite = undefined
      rests.resolve()
      return mayRest.promise
    }
    way.mayEnd.resolve()
    await rests.promise
    t.like(await ended(fixture, await begun(fixture, { act: name, filter: { destinationId: 'dst_1' } })), { counters: { acted: 1 } }, name)
    mayRest.resolve()
    await fixture.settled()
    t.is(fixture.errors.splice(0).length, 1)
    t.deepEqual(await states(fixture), held(name), name)
    await fixture.assertSound(t, name)
  }
})

/** A message whose attempt at `dst_2` has sent its final dot and fails over to `dst_1`, where a scheduled send waits. */
async function failingOver(
  t: ExecutionContext,
): Promise<{ fixture: CoreFixture; traceId: string; failOver: () => Promise<void>; end: () => Promise<void> }> {
  const [first, second] = [steered(), steered()]
  const transport = new ScriptedTransport((call) => (call.target.destinationId === 'dst_2' ? first : second).script(call))
  const fixture = await coreFixture(t, { transport })
  await fixture.destination({ id: 'dst_1', name: 'Fallback' })
  await fixture.destination({ id: 'dst_2', name: 'Primary' })
  await fixture.rule({ domain: 'plans.example' }, 'dst_1')
  await fixture.rule({ any: true }, 'dst_2', { priority: 20 })
  await fixture.put(failoverPolicies, {
    ...{ id: 'fop_1', projectId, primaryId: 'dst_2', fallbackIds: ['dst_1'], on: ['transient' as const], latencyMs: null },
    ...{ createdAt: startOfTime, updatedAt: startOfTime },
  })
  await fixture.submit({ sendAt: fixture.clock.now() + hour, facts: { ...factsDefaults, headerFrom: 'a@plans.example' } })
  const { traceId } = await fixture.submit()
  first.mayDot.resolve()
  await first.dotted.promise
  const failOver = async (): Promise<void> => {
    first.mayEnd.resolve()
    await second.began.promise
  }
  return {
    fixture,
    traceId,
    failOver,
    end: async () => {
      second.mayDot.resolve()
      second.mayEnd.resolve()
      await fixture.settled()
    },
  }
}

test('hold and drop: reach a message that fails over behind the walk', async (t) => {
  for (const name of ['hold', 'drop'] as const) {
    const { fixture, traceId, failOver, end } = await failingOver(t)
    beforeFirstMessage(fixture, failOver)
    const made = await begun(fixture, { act: name, filter: {} })
    t.like(await ended(fixture, made), { status: 'finished', counters: { acted: 2, inFlight: 0, skipped: 0 } }, name)
    await end()
    t.deepEqual(await states(fixture), [...held(name), ...held(name)], name)
    t.like(await fixture.trace(traceId), { status: name === 'hold' ? 'queued' : 'canceled', attempts: 1, destinationId: 'dst_1' })
    await fixture.assertSound(t, name)
  }
})
