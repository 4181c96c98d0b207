/** A deleted project leaves nothing behind and takes nothing else along, wherever the process ends meanwhile. */
import test from 'ava'
import type { Principal } from '#core/access/principal/principal.ts'
import { parseMailbox } from '#core/addresses.ts'
import { Refusal } from '#core/refusals.ts'
import { destinations } from '#core/routing/destination.ts'
import { traces } from '#core/trace/trace.ts'
import { smtpCredentials } from '#core/access/smtp-credential.ts'
import { graceMs, organizationRemovalKey } from '#core/tenancy/removal-key.ts'
import { projects } from '#core/tenancy/organization.ts'
import { peakUsage } from '#core/plan/peak-usage.ts'
import { Change } from '#store/change.ts'
import { dequeue, enqueue, queueHead } from '#store/queue.ts'
import { Seeded } from '../../support/seeded.ts'
import { houseOf, organizationId, projectId, quiet, principal, until, type House, relayingHouse } from '../house.ts'
import { hang, ScriptedTransport } from '../scripted-transport.ts'
import { credentialsOf, everyRow, furnish, furnished, officeOf, rowsNaming } from './office.ts'
import { column } from '../../support/column.ts'

const discard = { discardQueued: true }
const inside = (id: string): Principal => ({ ...principal, projectId: id, bound: true })

/** Rows of the first project, which nothing may change. */
async function others(house: House): Promise<[string, string][]> {
  const rows = [...(await everyRow(house))]
  return rows.filter(([key, value]) => `${key} ${value}`.includes(projectId) && !`${key} ${value}`.includes('prj_2'))
}

/** Does the work in a process that ends after so many writes: the next life, or the house itself when the work came to its end before. */
function crashedAfter(house: House, writesBefore: number, work: () => Promise<void>): Promise<House> {
  let writes = 0
  const crash = Promise.withResolvers<House>()
  house.kv.beforeWrite = () => {
    if (writes++ !== writesBefore) return undefined
    crash.resolve(house.crash())
    return crash.promise.then(() => {})
  }
  return Promise.race([work().then(() => house), crash.promise])
}

test('a deleted project and its partition leave no row, and other projects keep all of theirs', async (t) => {
  const house = await furnished(t)
  const { projects: administered, removals } = officeOf(house)
  const before = await others(house)
  t.true((await rowsNaming(house, 'prj_2', 'prj_3')).length > 60, 'the search finds what is there')
  await administered.remove(principal, 'prj_2', discard)
  await removals.idle()
  t.deepEqual(await rowsNaming(house, 'prj_2', 'prj_3', 'hello-prj_2'), [])
  t.deepEqual(await others(house), before)
  t.deepEqual(await house.problems(), [])
  t.is(await house.queueLength(), 3, 'those of the first project')
  t.is(await peakUsage(house.database, organizationId, 'smtp_credentials', '2030-01'), 3)
  t.is(await peakUsage(house.database, organizationId, 'smtp_credentials', '2030-02'), 1)
  house.clock.advance(25 * 3_600_000)
  await house.database.sweep(house.clock.now())
  const left = [...(await everyRow(house))].filter(([key, value]) => /prj_[23]/.test(key + value) && !key.includes('\u0002audit\0'))
  t.deepEqual(left, [])
})

test('wherever the process ends during a deletion, the next one ends it', async (t) => {
  for (let writesBefore = 0, ended = false; !ended; writesBefore++) {
    const house = await furnished(t)
    const before = await others(house)
    const { projects: administered, removals } = officeOf(house)
    const next = await crashedAfter(house, writesBefore, async () => {
      await administered.remove(principal, 'prj_2', discard)
      await removals.idle()
    })
    ended = next === house
    t.deepEqual(await next.problems(), [], `after ${writesBefore} writes`)
    const isMarked = (await next.database.get(projects, { organizationId }, 'prj_2'))?.record.deletedAt !== undefined
    if (writesBefore === 0) t.false(isMarked, 'the first write marks it')
    else {
      const policy = await next.policies.of(organizationId)
      t.deepEqual([...policy.projects.keys()], [projectId], `hidden after ${writesBefore} writes`)
      const later = officeOf(next).removals
      later.start()
      await later.idle()
      await later.stop()
      t.deepEqual(await rowsNaming(next, 'prj_2', 'prj_3'), [], `after ${writesBefore} writes`)
      t.deepEqual(await others(next), before)
      t.deepEqual(await next.problems(), [])
    }
    t.true(writesBefore < 200)
  }
})

test('wherever the process ends while an organization is removed, the next one ends it', async (t) => {
  const dayMs = 86_400_000
  for (let writesBefore = 0, ended = false; !ended; writesBefore++) {
    const house = await houseOf(t, { deaf: true })
    await furnish(house, projectId)
    const deletedAt = house.clock.now()
    await house.organization({ deletedAt })
    await house.database.commit(new Change().set(organizationRemovalKey(deletedAt + graceMs, organizationId)))
    house.clock.advance(30 * dayMs - 1)
    const early = officeOf(house).removals
    early.wake()
    await early.idle()
    t.deepEqual(await house.problems(), [])
    t.is((await rowsNaming(house, 'crd_prj_1')).length > 0, true, 'nothing goes before the time of grace is over')
    house.clock.advance(1)
    const { removals } = officeOf(house)
    const next = await crashedAfter(house, writesBefore, () => {
      removals.wake()
      return removals.idle()
    })
    ended = next === house
    t.deepEqual(await next.problems(), [], `after ${writesBefore} writes`)
    const later = officeOf(next).removals
    later.wake()
    await later.idle()
    const left = [...(await everyRow(next)).keys()].filter((key) => key.includes(organizationId) && !key.startsWith('\u0002\0\u0002expire'))
    t.deepEqual(left, [], `after ${writesBefore} writes`)
    t.is(await next.queueLength(), 0)
    t.true(writesBefore < 200)
  }
})

test('what belongs to a deleted project is out of reach at once, and nothing can be made in it', async (t) => {
  const house = await furnished(t)
  const { projects: administered } = officeOf(house)
  house.accept.settled = () => new Promise(() => {})
  await administered.remove(principal, 'prj_2', discard)
  t.true((await rowsNaming(house, 'prj_2')).length > 25, 'its rows are still there')
  const { deleted } = await house.policies.of(organizationId)
  const reach = { ...principal, hiddenProjects: deleted }
  t.deepEqual(column(await house.database.all(destinations, reach), 'record', 'projectId'), [projectId, projectId])
  t.is(await house.database.get(smtpCredentials, reach, 'crd_prj_2'), undefined)
  await t.throwsAsync(administered.get(principal, 'prj_2'), { code: 'not_found' })
  await t.throwsAsync(administered.update(principal, 'prj_2', { name: 'x' }), { code: 'not_found' })
  await t.throwsAsync(administered.create(principal, { name: 'x', parentId: 'prj_2' }), { code: 'not_found' })
  await t.throwsAsync(administered.remove(principal, 'prj_2', discard), { code: 'not_found' })
  await t.throwsAsync(house.submit({ projectId: 'prj_2', principal: inside('prj_2') }), { code: 'not_found' })
  await t.throwsAsync(house.door.login('user-prj_2', 'secret', '192.0.2.1'), { code: 'unauthorized' })
  t.deepEqual(await credentialsOf(house), ['crd_prj_1', 'crd_prj_2', 'crd_prj_3'])
  t.is((await house.policies.of(organizationId)).credentials.size, 1, 'only those of living projects count')
})

test('nothing is sent once a deletion is answered: attempts under way are broken off, and those to come find it gone', async (t) => {
  const house = await houseOf(t, { transport: new ScriptedTransport(hang) })
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  for (const id of [projectId, 'prj_2']) {
    await house.destination({ id: `dst_${id}`, projectId: id })
    await house.rule({ any: true }, `dst_${id}`, { projectId: id })
  }
  const { projects: administered, removals } = officeOf(house)
  const mine = await house.submit({ projectId: 'prj_2', principal: inside('prj_2') })
  const waiting = await Promise.all([1, 2, 3].map(() => house.submit({ projectId: 'prj_2', principal: inside('prj_2') })))
  await house.submit()
  await until('attempts are under way', () => house.transport.calls.length >= 2)
  const aborted = () => house.transport.calls.filter(({ job }) => job.signal.aborted).map(({ target }) => target.destinationId)
  await t.throwsAsync(administered.remove(principal, 'prj_2', { discardQueued: false }), { code: 'conflict' })
  t.deepEqual(aborted(), [])
  await administered.remove(principal, 'prj_2', discard)
  t.true(aborted().length > 0 && aborted().every((id) => id === 'dst_prj_2'), 'only those of the project')
  const calls = house.transport.calls.length
  await removals.idle()
  house.clock.advance(3_600_000)
  await quiet(house)
  const later = house.transport.calls.slice(calls).map(({ job }) => job.traceId)
  for (const { traceId } of [mine, ...waiting]) t.false(later.includes(traceId))
  t.deepEqual(await rowsNaming(house, 'prj_2'), [])
  t.deepEqual(await house.problems(), [])
  const stopped = house.queue.stop(0)
  house.clock.advance(1)
  await stopped
})

test('a scheduled send that waits to be captured is queued mail too: it keeps its project, or goes with it', async (t) => {
  const house = await houseOf(t)
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(house)
  const sent = await house.submit({ projectId: 'prj_2', principal: inside('prj_2'), sendAt: house.clock.now() + 3_600_000 })
  t.is(sent.outcome, 'captured.no_route')
  await t.throwsAsync(administered.remove(principal, 'prj_2', { discardQueued: false }), { code: 'conflict' })
  await administered.remove(principal, 'prj_2', discard)
  house.clock.advance(3_600_000)
  await quiet(house)
  await removals.idle()
  t.deepEqual(house.captured, [])
  t.deepEqual(await rowsNaming(house, 'prj_2'), [])
  t.deepEqual(await house.problems(), [])
})

test('a removal waits for an acceptance that was under way, and takes its rows too', async (t) => {
  const house = await houseOf(t, { deaf: true })
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(house)
  const gate = Promise.withResolvers<void>()
  let held = 0
  house.kv.beforeWrite = ({ sets }) => {
    if (!sets.some(({ key }) => Buffer.from(key).includes('\u0002trace\0'))) return undefined
    held++
    return gate.promise
  }
  const sent = house.submit({ projectId: 'prj_2', principal: inside('prj_2') })
  await until('its write is held up', () => held === 1)
  await administered.remove(principal, 'prj_2', discard)
  let ended = false
  const idle = removals.idle().then(() => (ended = true))
  for (let mutex = 0; mutex < 50; mutex++) await new Promise(setImmediate)
  t.false(ended)
  gate.resolve()
  await sent
  await idle
  t.deepEqual(await rowsNaming(house, 'prj_2'), [])
  t.deepEqual(await house.problems(), [])
})

test('a removal waits for a refused send that was being recorded, and takes its trace too', async (t) => {
  const house = await houseOf(t, { deaf: true })
  await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(house)
  const gate = Promise.withResolvers<void>()
  let held = 0
  house.kv.beforeWrite = ({ sets }) => {
    if (!sets.some(({ key }) => Buffer.from(key).includes('\u0002trace\0'))) return undefined
    held++
    return gate.promise
  }
  const to = [parseMailbox('ada@example.ch')].filter((one) => one !== undefined)
  const recorded = house.core.refusedSends.record(
    inside('prj_2'),
    { projectId: undefined, from: undefined, to, bcc: [] },
    new Refusal('validation_failed', 'text: is wrong'),
  )
  await until('its write is held up', () => held === 1)
  await administered.remove(principal, 'prj_2', discard)
  let ended = false
  const idle = removals.idle().then(() => (ended = true))
  for (let mutex = 0; mutex < 3000 && !ended; mutex++) await new Promise(setImmediate)
  t.false(ended)
  gate.resolve()
  t.truthy((await recorded).details?.['trace_id'])
  await idle
  t.deepEqual(await house.database.all(traces, { organizationId }), [])
  t.deepEqual(await house.problems(), [])
})

test('messages that arrive while their project is deleted either go with it or are refused', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Seeded(seed)
    const house = await houseOf(t)
    await house.project({ id: 'prj_2', name: 'Second', isDefault: false })
    await house.destination({ id: 'dst_2', projectId: 'prj_2' })
    await house.rule({ any: true }, 'dst_2', { projectId: 'prj_2' })
    const { projects: administered, removals } = officeOf(house)
    house.kv.beforeWrite = async () => {
      for (let mutex = random.between(0, 3); mutex > 0; mutex--) await new Promise(setImmediate)
    }
    let answered = false
    const late: string[] = []
    house.transport.script = async (call) => {
      if (answered) late.push(call.job.traceId)
      return hang(call)
    }
    const sends = Array.from({ length: 12 }, async () => {
      for (let mutex = random.between(0, 11); mutex > 0; mutex--) await new Promise(setImmediate)
      return house.submit({ projectId: 'prj_2', principal: inside('prj_2') }).then(
        () => undefined,
        (error: { code?: string }) => t.is(error.code, 'not_found', `seed ${seed}`),
      )
    })
    await administered.remove(principal, 'prj_2', discard)
    answered = true
    await Promise.all(sends)
    await removals.idle()
    await quiet(house)
    t.deepEqual(late, [], `seed ${seed}`)
    t.deepEqual(await rowsNaming(house, 'prj_2'), [], `seed ${seed}`)
    t.is(await house.queueLength(), 0, `seed ${seed}`)
  }
})

test('a queue entry that rests after a defect goes when it is due', async (t) => {
  const house = await furnished(t)
  const { projects: administered, removals } = officeOf(house)
  const [entry] = await queueHead(house.database, { destinationId: 'dst_prj_2', projectId: 'prj_2' }, { limit: 1 })
  if (!entry) throw new Error('nothing is queued')
  await house.database.commit(enqueue(dequeue(new Change(), entry), { ...entry, dueMs: entry.dueMs + 60_000 }))
  await administered.remove(principal, 'prj_2', discard)
  await removals.idle()
  t.is((await rowsNaming(house, 'prj_2', 'prj_3')).length, 1)
  await house.queue.start()
  house.clock.advance(60_000)
  await until('it is gone', async () => (await rowsNaming(house, 'prj_2', 'prj_3')).length === 0)
  await quiet(house)
  t.deepEqual(column(house.transport.calls, 'target', 'destinationId'), ['dst_prj_1'])
})

test('organization-wide destinations of a deleted project pass to the project Default', async (t) => {
  const house = await furnished(t)
  const { projects: administered, removals } = officeOf(house)
  const shared = await house.database.get(destinations, principal, 'dst_b_prj_2')
  if (!shared) throw new Error('no destination')
  await house.database.commit(new Change().replace(destinations, organizationId, shared, { ...shared.record, shared: 'org' }))
  await administered.remove(principal, 'prj_2', discard)
  await removals.idle()
  t.like((await house.database.get(destinations, principal, 'dst_b_prj_2'))?.record, { projectId, shared: 'org' })
  t.is(await house.database.get(destinations, principal, 'dst_prj_2'), undefined)
})

test('queued mail of a deleted organization fails, and its trace tells why', async (t) => {
  const house = await relayingHouse(t)
  const sendAt = house.clock.now() + 3_600_000
  const { traceId } = await house.submit({ sendAt })
  await house.organization({ deletedAt: house.clock.now() })
  house.clock.advance(3_600_000)
  await until('it has failed', async () => (await house.trace(traceId)).status === 'failed')
  await quiet(house)
  t.is(house.transport.calls.length, 0)
  t.regex((await house.story(traceId)).join(' '), /The organization was deleted before the message could be delivered/)
  t.is(await house.queueLength(), 0)
})
