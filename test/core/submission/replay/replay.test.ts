/** Bulk replay over the core: recipients, destination, and reasons to stop. */
import test, { type ExecutionContext } from '#test'
import { failoverPolicies, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { replayJobs, type ReplayJob } from '#core/submission/replay/replay-job.ts'
import { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import { Replays, type ReplayRequest } from '#core/submission/replay/replays.ts'
import { overhear } from '../../../support/overhear.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { organizationId, projectId, principal, type CoreFixture, relaying } from '../../core-fixture.ts'
import { take, type Call, type Script } from '../../scripted-transport.ts'

const everything: ReplayRequest = { filter: {}, includeUnknown: false }
const two = ['anna@example.net', 'ben@example.net']

interface Setup {
  readonly fixture: CoreFixture
  readonly replays: Replays
  readonly runner: ReplayRunner
  /** Waits for the end of a job. */
  ended(job: ReplayJob): Promise<ReplayJob>
}

function setUp(fixture: CoreFixture): Setup {
  const runner = fixture.part('replayRunner')
  const { replays } = fixture.core
  const ended = async (job: ReplayJob): Promise<ReplayJob> => {
    await fixture.settled()
    return replays.get(principal, job.id)
  }
  return { fixture, replays, runner, ended }
}

async function failing(t: ExecutionContext, script: Script): Promise<Setup> {
  const fixture = await relaying(t, script)
  await fixture.destination({ id: 'dst_2', name: 'Other', host: 'other.provider.test' })
  return setUp(fixture)
}

async function submitAll(fixture: CoreFixture, n: number, rcptTo: readonly string[] = ['anna@example.net']): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) ids.push((await fixture.submit({ rcptTo })).traceId)
  await fixture.settled()
  return ids
}

const toOther = (call: Call) => take(call, call.target.destinationId === 'dst_2' ? 'accepted' : 'permanent')

test('replay: sends failed messages to the target and records it in their traces', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  const ids = await submitAll(fixture, 120)
  t.is((await fixture.trace(ids[0] ?? '')).status, 'failed')
  t.like(await replays.preview(principal, everything), { matched: 120, complete: true })
  const job = await ended(await replays.create(principal, { ...everything, targetDestinationId: 'dst_2' }))
  t.like(job, { status: 'finished', counters: { examined: 120, replayed: 120, skipped: 0, refused: 0 }, problems: [] })
  await fixture.settled()
  t.is(fixture.attempted.length, 240, 'all were sent')
  for (const id of ids) {
    t.like(await fixture.trace(id), { status: 'sent', destinationId: 'dst_2', attempts: 2 })
    t.is(fixture.transport.attemptsAt(id).length, 2)
  }
  const details = await fixture.details(ids[0] ?? '')
  t.true(
    details.some((line) => line.startsWith('replayed: A replay queued the message again for 1 recipient')),
    details.join('\n'),
  )
  t.is(await fixture.queueLength(), 0)
})

test('replay: does not resend to accepted recipients', async (t) => {
  const { fixture, replays, ended } = await failing(t, (call) =>
    take(call, call.target.destinationId === 'dst_2' ? 'accepted' : { 'ben@example.net': 'permanent' }),
  )
  const [id = ''] = await submitAll(fixture, 1, two)
  await ended(await replays.create(principal, { ...everything, targetDestinationId: 'dst_2' }))
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'sent', 'sent')
  t.deepEqual(fixture.transport.attemptsAt(id), [two, ['ben@example.net']])
})

test('replay: resends unknown outcomes only on request', async (t) => {
  const { fixture, replays, ended } = await failing(t, (call) =>
    take(call, call.nth <= 2 ? { 'anna@example.net': 'unknown', 'ben@example.net': 'permanent' } : 'accepted'),
  )
  const [id = ''] = await submitAll(fixture, 1, two)
  fixture.clock.advance(3600 * 1000)
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'failed', 'given up')
  await ended(await replays.create(principal, everything))
  await fixture.settled()
  t.is(fixture.transport.attemptsAt(id).length, 3, 'the refused one was sent again')
  t.deepEqual(fixture.transport.attemptsAt(id).at(-1), ['ben@example.net'])
  t.is((await fixture.trace(id)).status, 'failed')
  t.like(await ended(await replays.create(principal, everything)), { counters: { examined: 1, replayed: 0, skipped: 1, refused: 0 } })
  await ended(await replays.create(principal, { ...everything, includeUnknown: true }))
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'sent', 'sent')
  t.deepEqual(fixture.transport.attemptsAt(id).at(-1), ['anna@example.net'])
})

test('replay: an attempt with an unknown outcome is repeated once, as in a first send', async (t) => {
  const { fixture, replays, ended } = await failing(t, (call) => take(call, call.nth <= 3 ? 'unknown' : 'accepted'))
  const [id = ''] = await submitAll(fixture, 1)
  fixture.clock.advance(3600 * 1000)
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'failed', 'given up')
  await ended(await replays.create(principal, { ...everything, includeUnknown: true }))
  await fixture.settled()
  t.is(fixture.transport.attemptsAt(id).length, 3, 'unknown again')
  t.is((await fixture.trace(id)).status, 'queued')
  fixture.clock.advance(3600 * 1000)
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'sent', 'sent')
})

test('replay: restarts the retry schedule regardless of age', async (t) => {
  const { fixture, replays, ended } = await failing(t, (call) =>
    take(call, call.nth === 1 ? 'permanent' : call.nth === 2 ? 'transient' : 'accepted'),
  )
  const [id = ''] = await submitAll(fixture, 1)
  fixture.clock.advance(100 * 3600 * 1000)
  await ended(await replays.create(principal, everything))
  await fixture.settled()
  t.is(fixture.transport.attemptsAt(id).length, 2, 'deferred')
  t.like(await fixture.trace(id), { status: 'queued', nextAttemptAt: fixture.clock.now() + 60_000 })
  fixture.clock.advance(60_000)
  await fixture.settled()
  t.is((await fixture.trace(id)).status, 'sent', 'sent')
})

test('replay: stops at the budget with a reason, and leaves the rest failed', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  const ids = await submitAll(fixture, 10)
  await fixture.project({ sendBudget: 14 })
  const job = await ended(await replays.create(principal, { ...everything, targetDestinationId: 'dst_2' }))
  t.like(job, { status: 'stopped', counters: { replayed: 4 } })
  t.regex(job.stoppedBecause ?? '', /budget of 14 sends per day is exhausted/)
  await fixture.settled()
  t.is(fixture.attempted.length, 14, 'the four were sent')
  const statuses = await Promise.all(ids.map(async (id) => (await fixture.trace(id)).status))
  t.deepEqual(
    Object.fromEntries(
      Map.groupBy(statuses, (status) => status)
        .entries()
        .map(([status, list]) => [status, list.length]),
    ),
    {
      failed: 6,
      sent: 4,
    },
  )
  t.deepEqual(await fixture.keys('replay.open'), [])
})

test('stop(): ends a job between two messages, and is idempotent', async (t) => {
  const { fixture, replays, ended, runner } = await failing(t, toOther)
  await submitAll(fixture, 60)
  const job = await replays.create(principal, { ...everything, targetDestinationId: 'dst_2' })
  const stopped = await replays.stop(principal, job.id)
  t.like(stopped, { status: 'stopped', stoppedBecause: 'Stopped on request.' })
  const after = await ended(job)
  await runner.stop()
  t.deepEqual(after.counters, (await replays.stop(principal, job.id)).counters)
  t.is(fixture.transport.calls.filter(({ target }) => target.destinationId === 'dst_2').length, after.counters.replayed)
  t.deepEqual(await fixture.keys('replay.open'), [])
})

test('replay: continues after a crash and counts every message once', async (t) => {
  const { fixture, replays } = await failing(t, toOther)
  const ids = await submitAll(fixture, 130)
  const cut = Promise.withResolvers<void>()
  let queued = 0
  overhear(fixture.queue, 'offer', () => void (++queued === 60 && cut.resolve(fixture.kv.cut())))
  const job = await replays.create(principal, { ...everything, targetDestinationId: 'dst_2' })
  await cut.promise
  const second = await fixture.crash()
  const next = setUp(second)
  await second.queue.start()
  await next.runner.start()
  const after = await next.ended(job)
  t.like(after, { status: 'finished', counters: { examined: 130, replayed: 130, skipped: 0, refused: 0 } })
  await second.settled()
  t.is(await second.queueLength(), 0, 'all were sent')
  for (const id of ids) t.is((await second.trace(id)).status, 'sent')
})

test('replay: sends failed messages in the order of acceptance', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  const ids: string[] = []
  for (let i = 0; i < 130; i++) {
    fixture.clock.advance(1)
    ids.push(...(await submitAll(fixture, 1)))
  }
  const filter = { since: startOfTime + 11, until: startOfTime + 121 }
  await ended(await replays.create(principal, { ...everything, filter, targetDestinationId: 'dst_2' }))
  const again = fixture.transport.calls.slice(130).map(({ job }) => job.traceId)
  t.deepEqual(again, ids.slice(10, 120))
})

test('replay: refuses each message without a usable destination, with the reason', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  const [id = ''] = await submitAll(fixture, 1)
  await fixture.destination({ mode: 'sandbox' })
  const job = await ended(await replays.create(principal, everything))
  t.like(job, { status: 'finished', counters: { examined: 1, replayed: 0, skipped: 0, refused: 1 } })
  t.deepEqual(job.problems, [{ traceId: id, reason: 'The destination Provider is in sandbox mode; promote it to live.' }])
  t.is((await fixture.trace(id)).status, 'failed')
})

test('create(): refuses unusable targets, plans without replay, and a fourth job', async (t) => {
  const { fixture, replays, runner } = await failing(t, toOther)
  await t.throwsAsync(replays.create(principal, { ...everything, targetDestinationId: 'dst_9' }), { code: 'validation_failed' })
  await fixture.destination({ id: 'dst_3', mode: 'sandbox' })
  await t.throwsAsync(replays.create(principal, { ...everything, targetDestinationId: 'dst_3' }), { message: /is in sandbox mode/ })
  await t.throwsAsync(replays.create(principal, { ...everything, filter: { since: startOfTime + 5, until: startOfTime } }), {
    message: 'filter.since: must be before filter.until',
  })
  runner.wake = () => {}
  for (let i = 0; i < 3; i++) await replays.create(principal, everything)
  await t.throwsAsync(replays.create(principal, everything), { code: 'conflict', message: /3 replays are running/ })
  await fixture.organization({ plan: 'basic' })
  await t.throwsAsync(replays.preview(principal, everything), {
    code: 'feature_disabled',
    message: 'The plan basic does not include bulk replay; retry traces one by one, or raise the plan to pro or enterprise.',
  })
})

test('replay jobs: visible to their organization, or to the project of a bound key', async (t) => {
  const { fixture, replays } = await failing(t, toOther)
  const bound = { ...principal, projectId: 'prj_2', bound: true }
  await fixture.project({ id: 'prj_2', isDefault: false })
  const job = await replays.create(bound, everything)
  t.is((await replays.get(principal, job.id)).filter.projectId, 'prj_2')
  const foreign = [
    { ...principal, organizationId: 'org_2' },
    { ...principal, bound: true },
  ]
  for (const other of foreign) await t.throwsAsync(replays.get(other, job.id), { code: 'not_found' })
  const stored = await fixture.database.get(replayJobs, { organizationId }, job.id)
  t.true(replayJobs.schema.safeParse(stored?.record).success)
})

test('replay: starts at the primary after a failure at a fallback', async (t) => {
  let isDown = true
  const { fixture, replays, ended } = await failing(t, (call) => {
    if (!isDown) return take(call)
    return take(call, call.target.destinationId === 'dst_2' ? 'permanent' : 'transient')
  })
  await fixture.put<FailoverPolicy>(failoverPolicies, {
    ...{ id: 'fop_1', projectId, primaryId: 'dst_1', fallbackIds: ['dst_2'], on: ['transient' as const], latencyMs: null },
    ...{ createdAt: startOfTime, updatedAt: startOfTime },
  })
  const { traceId } = await fixture.submit()
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'failed', 'failed')
  t.is((await fixture.trace(traceId)).destinationId, 'dst_2')
  isDown = false
  await ended(await replays.create(principal, everything))
  await fixture.settled()
  t.is((await fixture.trace(traceId)).status, 'sent', 'sent')
  t.is((await fixture.trace(traceId)).destinationId, 'dst_1')
})

test('replay: sends nothing through a destination of another project', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  await fixture.destination({ id: 'dst_2', projectId: 'prj_2', name: 'Foreign', host: 'other.provider.test' })
  const [id = ''] = await submitAll(fixture, 1)
  const request = { ...everything, targetDestinationId: 'dst_2' }

  // a key of the project cannot name it
  await t.throwsAsync(replays.create({ ...principal, bound: true }, request), {
    code: 'validation_failed',
    message: 'target_destination_id: no destination that you can access has this id',
  })
  await t.throwsAsync(replays.preview({ ...principal, bound: true }, request), { code: 'validation_failed' })

  // a key of the organization can, but only for messages of that project
  const job = await ended(await replays.create(principal, request))
  t.like(job, { status: 'finished', counters: { examined: 1, replayed: 0, skipped: 0, refused: 1 } })
  t.deepEqual(job.problems, [{ traceId: id, reason: 'The destination Foreign belongs to another project.' }])
  t.is((await fixture.trace(id)).status, 'failed')
  t.true(fixture.transport.calls.every(({ target }) => target.destinationId === 'dst_1'))

  // once shared with all projects, it accepts them
  await fixture.destination({ id: 'dst_2', projectId: 'prj_2', name: 'Foreign', shared: 'org' })
  t.like(await ended(await replays.create(principal, request)), { counters: { replayed: 1, refused: 0 } })
  t.is((await fixture.trace(id)).status, 'sent')
})

test('replay: stops using a destination that moves to another project', async (t) => {
  const { fixture, replays, ended } = await failing(t, toOther)
  await fixture.project({ id: 'prj_2', name: 'Second', isDefault: false })
  const [id = ''] = await submitAll(fixture, 1)
  await fixture.destination({ projectId: 'prj_2' })
  const job = await ended(await replays.create(principal, everything))
  t.deepEqual(job.problems, [{ traceId: id, reason: 'The destination Provider belongs to another project.' }])
  t.is((await fixture.trace(id)).status, 'failed')
})
