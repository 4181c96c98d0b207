/** Deleting a project removes all of its rows and no others, also after a crash at any time. */
import type { ExecutionContext } from 'ava'
import test from '#test'
import type { Principal } from '#core/access/principal/principal.ts'
import { count, projectNames } from '#core/insights/count.ts'
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
import type { Administration } from '../../../daemon/composition/composed.ts'
import { unpack } from '#store/tuple.ts'
import { Seeded } from '../../support/seeded.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture, relayingFixture } from '../core-fixture.ts'
import { hang, ScriptedTransport } from '../scripted-transport.ts'
import { credentialsOf, everyRow, furnish, furnished, officeOf, rowsNaming } from './full-projects.ts'
import { column } from '../../support/column.ts'

const discard = { discardQueued: true }
const inside = (id: string): Principal => ({ ...principal, projectId: id, bound: true })

/**
 * Resolves when all earlier deletions are complete. A fixture's daemon is not started, so it holds no lease of this work on a shared store.
 * The test wakes the removals in its place.
 */
function allRemoved(removals: Administration['removals']): Promise<void> {
  removals.wake()
  return removals.idle()
}

/** Returns the rows of the first project, which removals must not change. Usage counts of the whole organization are excluded. */
async function others(fixture: CoreFixture): Promise<[string, string][]> {
  const rows = [...(await everyRow(fixture))].filter(([key]) => !key.includes('usage.held'))
  return rows.filter(([key, value]) => `${key} ${value}`.includes(projectId) && !`${key} ${value}`.includes('prj_2'))
}

/**
 * Runs the work in a process that ends after the given number of writes. Returns the next process, or the fixture itself if the work ended
 * earlier.
 */
function crashedAfter(fixture: CoreFixture, writesBefore: number, work: () => Promise<void>): Promise<CoreFixture> {
  let writes = 0
  const crash = Promise.withResolvers<CoreFixture>()
  fixture.kv.beforeWrite = () => {
    if (writes++ !== writesBefore) return undefined
    crash.resolve(fixture.crash())
    return crash.promise.then(() => {})
  }
  return Promise.race([work().then(() => fixture), crash.promise])
}

test('removing a project and its partition leaves no row, and keeps other projects', async (t) => {
  const fixture = await furnished(t)
  const { projects: administered, removals } = officeOf(fixture)
  const before = await others(fixture)
  t.true((await rowsNaming(fixture, 'prj_2', 'prj_3')).length > 60, 'the search finds existing rows')
  await administered.remove(principal, 'prj_2', discard)
  await allRemoved(removals)
  t.deepEqual(await rowsNaming(fixture, 'prj_2', 'prj_3', 'hello-prj_2'), [])
  t.deepEqual(await others(fixture), before)
  await fixture.assertSound(t)
  t.is(await fixture.queueLength(), 3, 'rows of the first project')
  const most = async (month: string) => (await peakUsage(fixture.database, organizationId, 'smtp_credentials', month)).most
  t.deepEqual(await most('2030-01'), { count: 3, projects: [[projectId, 1]] }, 'counts of the deleted projects are gone')
  t.deepEqual(await most('2030-02'), { count: 1, projects: [[projectId, 1]] })
  fixture.clock.advance(25 * 3_600_000)
  await fixture.database.sweep(fixture.clock.now())
  const left = [...(await everyRow(fixture))].filter(([key, value]) => /prj_[23]/.test(key + value) && !key.includes('\u0002audit\0'))
  t.deepEqual(left, [])
})

test('a deletion interrupted at any write is completed by the next process', async (t) => {
  for (let writesBefore = 0, ended = false; !ended; writesBefore++) {
    const fixture = await furnished(t)
    const before = await others(fixture)
    const { projects: administered, removals } = officeOf(fixture)
    const next = await crashedAfter(fixture, writesBefore, async () => {
      await administered.remove(principal, 'prj_2', discard)
      await allRemoved(removals)
    })
    ended = next === fixture
    await next.assertSound(t, `after ${writesBefore} writes`)
    const isMarked = (await next.database.get(projects, { organizationId }, 'prj_2'))?.record.deletedAt !== undefined
    if (writesBefore === 0) t.false(isMarked, 'the first write marks it')
    else {
      const policy = await next.policies.of(organizationId)
      t.deepEqual([...policy.projects.keys()], [projectId], `hidden after ${writesBefore} writes`)
      const later = officeOf(next).removals
      later.start()
      await allRemoved(later)
      await later.stop()
      t.deepEqual(await rowsNaming(next, 'prj_2', 'prj_3'), [], `after ${writesBefore} writes`)
      t.deepEqual(await others(next), before)
      await next.assertSound(t)
    }
    t.true(writesBefore < 200)
  }
})

test('an organization removal interrupted at any write completes in the next process', async (t) => {
  const dayMs = 86_400_000
  for (let writesBefore = 0, ended = false; !ended; writesBefore++) {
    const fixture = await coreFixture(t, { deaf: true })
    await furnish(fixture, projectId)
    const deletedAt = fixture.clock.now()
    await fixture.organization({ deletedAt })
    await fixture.database.commit(new Change().set(organizationRemovalKey(deletedAt + graceMs, organizationId)))
    fixture.clock.advance(30 * dayMs - 1)
    const early = officeOf(fixture).removals
    early.wake()
    await allRemoved(early)
    await fixture.assertSound(t)
    t.is((await rowsNaming(fixture, 'crd_prj_1')).length > 0, true, 'no row is removed during the grace period')
    fixture.clock.advance(1)
    const { removals } = officeOf(fixture)
    const next = await crashedAfter(fixture, writesBefore, () => {
      removals.wake()
      return allRemoved(removals)
    })
    ended = next === fixture
    await next.assertSound(t, `after ${writesBefore} writes`)
    const later = officeOf(next).removals
    later.wake()
    await allRemoved(later)
    const left = [...(await everyRow(next)).keys()].filter((key) => key.includes(organizationId) && !key.startsWith('\u0002\0\u0002expire'))
    t.deepEqual(left, [], `after ${writesBefore} writes`)
    t.is(await next.queueLength(), 0)
    t.true(writesBefore < 200)
  }
})

/** Removes a project or its organization during a roll-up whose writes wait until the removal has made the given number of writes. */
async function removedDuringRollUp(
  t: ExecutionContext,
  whole: boolean,
  writesBefore: number,
): Promise<{ left: readonly string[]; writes: number }> {
  const fixture = await furnished(t)
  const rollUp = fixture.part('rollUp')
  const { removals, projects: administered } = officeOf(fixture)
  await rollUp.rollUp()
  const change = new Change()
  count(change, { organizationId, projectId: 'prj_2' }, [projectNames.relayed], fixture.clock.now())
  await fixture.database.commit(change)
  fixture.clock.advance(2 * 3_600_000)
  if (whole) {
    const deletedAt = fixture.clock.now() - graceMs
    await fixture.organization({ deletedAt })
    await fixture.database.commit(new Change().set(organizationRemovalKey(deletedAt + graceMs, organizationId)))
  }
  const release = Promise.withResolvers<void>()
  let writes = 0
  fixture.kv.beforeWrite = ({ sets }) => {
    const isOfRollUp = sets.some(({ key }) => String(unpack(key)[1]).startsWith('insight.'))
    if (isOfRollUp) return release.promise
    if (writes++ === writesBefore) release.resolve()
    return undefined
  }
  const rolled = rollUp.rollUp()
  if (!whole) await administered.remove(principal, 'prj_2', discard)
  await allRemoved(removals)
  release.resolve()
  await rolled
  const left = [...(await everyRow(fixture)).keys()].filter(
    (key) => key.includes('\u0002insight.') && key.includes(whole ? organizationId : 'prj_2'),
  )
  return { left, writes }
}

test('removal: a concurrent roll-up of counts leaves no rows', async (t) => {
  for (const whole of [false, true]) {
    const { writes } = await removedDuringRollUp(t, whole, Infinity)
    for (let writesBefore = Math.max(0, writes - 5); writesBefore < writes; writesBefore++)
      t.deepEqual((await removedDuringRollUp(t, whole, writesBefore)).left, [], `after ${writesBefore} of ${writes} writes`)
  }
})

test('a deleted project is inaccessible immediately, and refuses new resources', async (t) => {
  const fixture = await furnished(t)
  const { projects: administered } = officeOf(fixture)
  fixture.accept.settled = () => new Promise(() => {})
  await administered.remove(principal, 'prj_2', discard)
  t.true((await rowsNaming(fixture, 'prj_2')).length > 25, 'its rows are still there')
  const { deleted } = await fixture.policies.of(organizationId)
  const reach = { ...principal, hiddenProjects: deleted }
  t.deepEqual(column(await fixture.database.all(destinations, reach), 'record', 'projectId'), [projectId, projectId])
  t.is(await fixture.database.get(smtpCredentials, reach, 'crd_prj_2'), undefined)
  await t.throwsAsync(administered.get(principal, 'prj_2'), { code: 'not_found' })
  await t.throwsAsync(administered.update(principal, 'prj_2', { name: 'x' }), { code: 'not_found' })
  await t.throwsAsync(administered.create(principal, { name: 'x', parentId: 'prj_2' }), { code: 'not_found' })
  await t.throwsAsync(administered.remove(principal, 'prj_2', discard), { code: 'not_found' })
  await t.throwsAsync(fixture.submit({ projectId: 'prj_2', principal: inside('prj_2') }), { code: 'not_found' })
  await t.throwsAsync(fixture.door.login('user-prj_2', 'secret', '192.0.2.1'), { code: 'unauthorized' })
  t.deepEqual(await credentialsOf(fixture), ['crd_prj_1', 'crd_prj_2', 'crd_prj_3'])
  t.is((await fixture.policies.of(organizationId)).credentials.size, 1, 'only counts of living projects')
})

test('a deletion aborts running attempts, and later attempts find no message', async (t) => {
  const fixture = await coreFixture(t, { transport: new ScriptedTransport(hang) })
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  for (const id of [projectId, 'prj_2']) {
    await fixture.destination({ id: `dst_${id}`, projectId: id })
    await fixture.rule({ any: true }, `dst_${id}`, { projectId: id })
  }
  await fixture.queue.start()
  const { projects: administered, removals } = officeOf(fixture)
  const mine = await fixture.submit({ projectId: 'prj_2', principal: inside('prj_2') })
  const waiting = await Promise.all([1, 2, 3].map(() => fixture.submit({ projectId: 'prj_2', principal: inside('prj_2') })))
  await fixture.submit()
  await fixture.settled()
  t.true(fixture.transport.calls.length >= 2, 'attempts are in flight')
  const aborted = () => fixture.transport.calls.filter(({ job }) => job.signal.aborted).map(({ target }) => target.destinationId)
  await t.throwsAsync(administered.remove(principal, 'prj_2', { discardQueued: false }), { code: 'conflict' })
  t.deepEqual(aborted(), [])
  await administered.remove(principal, 'prj_2', discard)
  t.true(aborted().length > 0 && aborted().every((id) => id === 'dst_prj_2'), 'only attempts of the project')
  const calls = fixture.transport.calls.length
  await allRemoved(removals)
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  const later = fixture.transport.calls.slice(calls).map(({ job }) => job.traceId)
  for (const { traceId } of [mine, ...waiting]) t.false(later.includes(traceId))
  t.deepEqual(await rowsNaming(fixture, 'prj_2'), [])
  await fixture.assertSound(t)
  const stopped = fixture.queue.stop(0)
  fixture.clock.advance(1)
  await stopped
})

test('a scheduled capture counts as queued mail: it blocks a deletion or is discarded', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(fixture)
  const sent = await fixture.submit({ projectId: 'prj_2', principal: inside('prj_2'), sendAt: fixture.clock.now() + 3_600_000 })
  t.is(sent.outcome, 'captured.no_route')
  await t.throwsAsync(administered.remove(principal, 'prj_2', { discardQueued: false }), { code: 'conflict' })
  await administered.remove(principal, 'prj_2', discard)
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  await allRemoved(removals)
  t.deepEqual(fixture.captured, [])
  t.deepEqual(await rowsNaming(fixture, 'prj_2'), [])
  await fixture.assertSound(t)
})

/** Delays every write of a trace until it is released. */
function holdTraces(fixture: CoreFixture): { readonly release: () => void; held: number } {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const writing = { release, held: 0 }
  fixture.kv.beforeWrite = ({ sets }) => {
    if (!sets.some(({ key }) => Buffer.from(key).includes('\u0002send\0'))) return undefined
    writing.held++
    return promise
  }
  return writing
}

test('a removal waits for an acceptance in progress and removes its rows too', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(fixture)
  const writing = holdTraces(fixture)
  const sent = fixture.submit({ projectId: 'prj_2', principal: inside('prj_2') })
  await fixture.settled()
  t.is(writing.held, 1, 'the write is delayed')
  await administered.remove(principal, 'prj_2', discard)
  let ended = false
  const idle = allRemoved(removals).then(() => (ended = true))
  await fixture.settled()
  t.false(ended)
  writing.release()
  await sent.catch((error: { code?: string }) => t.is(error.code, 'not_found', 'on a shared store, its write checks the project'))
  await idle
  t.deepEqual(await rowsNaming(fixture, 'prj_2'), [])
  await fixture.assertSound(t)
})

test('a removal waits for a refused send that is being stored, and removes its trace', async (t) => {
  const fixture = await coreFixture(t, { deaf: true })
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const { projects: administered, removals } = officeOf(fixture)
  const writing = holdTraces(fixture)
  const to = [parseMailbox('ada@example.ch')].filter((one) => one !== undefined)
  const recorded = fixture.core.refusedSends.record(
    inside('prj_2'),
    { projectId: undefined, from: undefined, to, bcc: [] },
    new Refusal('validation_failed', 'text: is wrong'),
  )
  await fixture.settled()
  t.is(writing.held, 1, 'the write is delayed')
  await administered.remove(principal, 'prj_2', discard)
  let ended = false
  const idle = allRemoved(removals).then(() => (ended = true))
  await fixture.settled()
  t.false(ended)
  writing.release()
  t.truthy((await recorded).details?.['trace_id'])
  await idle
  t.deepEqual(await fixture.database.all(traces, { organizationId }), [])
  await fixture.assertSound(t)
})

test('messages that arrive during a deletion are removed with it or refused', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Seeded(seed)
    const fixture = await coreFixture(t)
    await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
    await fixture.destination({ id: 'dst_2', projectId: 'prj_2' })
    await fixture.rule({ any: true }, 'dst_2', { projectId: 'prj_2' })
    const { projects: administered, removals } = officeOf(fixture)
    fixture.kv.beforeWrite = async () => {
      for (let mutex = random.between(0, 3); mutex > 0; mutex--) await new Promise(setImmediate)
    }
    let answered = false
    const late: string[] = []
    fixture.transport.script = async (call) => {
      if (answered) late.push(call.job.traceId)
      return hang(call)
    }
    const sends = Array.from({ length: 12 }, async () => {
      for (let mutex = random.between(0, 11); mutex > 0; mutex--) await new Promise(setImmediate)
      return fixture.submit({ projectId: 'prj_2', principal: inside('prj_2') }).then(
        () => undefined,
        (error: { code?: string }) => t.is(error.code, 'not_found', `seed ${seed}`),
      )
    })
    await administered.remove(principal, 'prj_2', discard)
    answered = true
    await Promise.all(sends)
    await allRemoved(removals)
    await fixture.settled()
    t.deepEqual(late, [], `seed ${seed}`)
    t.deepEqual(await rowsNaming(fixture, 'prj_2'), [], `seed ${seed}`)
    t.is(await fixture.queueLength(), 0, `seed ${seed}`)
  }
})

test('a queue entry deferred by a defect is removed when due', async (t) => {
  const fixture = await furnished(t)
  const { projects: administered, removals } = officeOf(fixture)
  const [entry] = await queueHead(fixture.database, { destinationId: 'dst_prj_2', projectId: 'prj_2' }, { limit: 1 })
  if (!entry) throw new Error('nothing is queued')
  await fixture.database.commit(enqueue(dequeue(new Change(), entry), { ...entry, dueMs: entry.dueMs + 60_000 }))
  await administered.remove(principal, 'prj_2', discard)
  await allRemoved(removals)
  t.is((await rowsNaming(fixture, 'prj_2', 'prj_3')).length, 1)
  await fixture.queue.start()
  fixture.clock.advance(60_000)
  // Daemons on a shared database take over parts of the queue after their start.
  await fixture.kv.holds('the entry is gone', async () => (await rowsNaming(fixture, 'prj_2', 'prj_3')).length === 0)
  await fixture.kv.holds('the other message was sent', async () => fixture.transport.calls.length > 0)
  await fixture.settled()
  t.deepEqual(column(fixture.transport.calls, 'target', 'destinationId'), ['dst_prj_1'])
})

test('organization-wide destinations of a deleted project move to the project Default', async (t) => {
  const fixture = await furnished(t)
  const { projects: administered, removals } = officeOf(fixture)
  const shared = await fixture.database.get(destinations, principal, 'dst_b_prj_2')
  if (!shared) throw new Error('no destination')
  await fixture.database.commit(new Change().replace(destinations, organizationId, shared, { ...shared.record, shared: 'org' }))
  await administered.remove(principal, 'prj_2', discard)
  await allRemoved(removals)
  t.like((await fixture.database.get(destinations, principal, 'dst_b_prj_2'))?.record, { projectId, shared: 'org' })
  t.is(await fixture.database.get(destinations, principal, 'dst_prj_2'), undefined)
})

test('queued mail of a deleted organization fails, and its trace gives the reason', async (t) => {
  const fixture = await relayingFixture(t)
  await fixture.queue.start()
  const sendAt = fixture.clock.now() + 3_600_000
  const { traceId } = await fixture.submit({ sendAt })
  await fixture.organization({ deletedAt: fixture.clock.now() })
  fixture.clock.advance(3_600_000)
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'it has failed')
  t.is(fixture.transport.calls.length, 0)
  t.regex((await fixture.details(traceId)).join(' '), /The organization was deleted before the message could be delivered/)
  t.is(await fixture.queueLength(), 0)
})
