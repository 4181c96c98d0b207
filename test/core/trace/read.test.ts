/** Reading traces: single traces, filtered lists with a stable cursor, and the public view. */
import test from '#test'
import type { TraceFilter } from '#core/trace/trace-search.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { parseHeaders } from '#core/submission/doors/headers.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { newTraceId } from '#store/ids.ts'
import { factsDefaults, coreFixture, organizationId, principal, type CoreFixture } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { column } from '../../support/column.ts'

/** Submits `n` messages, one per second, varied by `vary`; returns their ids. */
async function submitSome(
  fixture: CoreFixture,
  n: number,
  vary: (i: number) => Parameters<CoreFixture['submit']>[0] = () => ({}),
): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    ids.push((await fixture.submit(vary(i))).traceId)
    fixture.clock.advance(1000)
  }
  return ids
}

/** All pages of a list, at most `limit` each. */
async function pages(fixture: CoreFixture, filter: TraceFilter, limit: number, asking: Principal = principal): Promise<string[][]> {
  const all: string[][] = []
  let cursor: string | undefined
  do {
    const page = await fixture.traces.list(asking, { ...filter, limit, cursor })
    all.push(page.rows.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return all
}

test('get(): unknown and foreign ids get the same error', async (t) => {
  const fixture = await coreFixture(t)
  const { traceId } = await fixture.submit()
  const gone = { code: 'not_found', message: 'No trace has this id.' }
  t.is((await fixture.traces.get(principal, traceId)).trace.id, traceId)
  await t.throwsAsync(fixture.traces.get(principal, newTraceId()), gone)
  await t.throwsAsync(fixture.traces.get({ ...principal, organizationId: 'org_2' }, traceId), gone)
  await t.throwsAsync(fixture.traces.get({ ...principal, bound: true, projectId: 'prj_2' }, traceId), gone)
  await t.throwsAsync(fixture.traces.shared(newTraceId()), gone)
  t.is((await fixture.traces.shared(traceId)).traceId, traceId, 'the public view needs no scope')
})

test('list(): shows every trace once, newest first, with any page size', async (t) => {
  const fixture = await coreFixture(t)
  const ids = (await submitSome(fixture, 23)).toReversed()
  for (const limit of [1, 2, 7, 22, 23, 24, 100]) {
    const all = await pages(fixture, {}, limit)
    t.deepEqual(all.flat(), ids)
    t.true(all.every(({ length }) => length <= limit))
  }
})

test('list(): keeps its position while new traces arrive', async (t) => {
  const fixture = await coreFixture(t)
  const ids = (await submitSome(fixture, 6)).toReversed()
  const first = await fixture.traces.list(principal, { limit: 3 })
  await submitSome(fixture, 3)
  const second = await fixture.traces.list(principal, { limit: 3, cursor: first.nextCursor })
  t.deepEqual(column([...first.rows, ...second.rows], 'id'), ids)
})

test('list(): filters', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.destination()
  await fixture.rule({ from: 'relay@example.com' })
  const ids = await submitSome(fixture, 12, (i) => ({
    rcptTo: i % 3 === 0 ? ['Anna@example.net', 'ben@example.net'] : ['carl@example.net'],
    projectId: i % 4 === 3 ? 'prj_2' : 'prj_1',
    mailFrom: i % 2 ? 'bounce@example.com' : 'shop@example.com',
    facts: { headerFrom: i === 4 ? 'Relay@Example.com' : 'shop@example.com' } as never,
  }))
  await fixture.put<Trace>(traces, { ...(await fixture.trace(ids[4] ?? '')), status: 'sent' })
  const list = async (filter: TraceFilter, asking: Principal = principal) =>
    (await pages(fixture, filter, 2, asking))
      .flat()
      .map((id) => ids.indexOf(id))
      .toSorted((a, b) => a - b)
  t.deepEqual(await list({ to: 'anna@EXAMPLE.net' }), [0, 3, 6, 9])
  t.deepEqual(await list({ to: 'ben@example.net', projectId: 'prj_2' }), [3])
  t.deepEqual(await list({ to: 'nobody@example.net' }), [])
  t.deepEqual(await list({ projectId: 'prj_2' }), [3, 7, 11])
  t.deepEqual(await list({ status: 'sent' }), [4])
  t.deepEqual(await list({ outcome: 'relayed' }), [4])
  t.deepEqual(await list({ destinationId: 'dst_1' }), [4])
  t.deepEqual(await list({ from: 'relay@example.com' }), [4])
  t.deepEqual(await list({ from: 'BOUNCE@example.com' }), [1, 3, 5, 7, 9, 11])
  t.deepEqual(await list({ since: startOfTime + 8000 }), [8, 9, 10, 11])
  t.deepEqual(await list({ until: startOfTime + 2000 }), [0, 1])
  t.deepEqual(await list({ since: startOfTime + 3000, until: startOfTime + 7000, to: 'anna@example.net' }), [3, 6])
  t.deepEqual(await list({}, { ...principal, bound: true, projectId: 'prj_2' }), [3, 7, 11])
  await t.throwsAsync(list({ projectId: 'prj_1' }, { ...principal, bound: true, projectId: 'prj_2' }), { code: 'not_found' })
  t.deepEqual(await list({ to: 'anna@example.net' }, { ...principal, bound: true, projectId: 'prj_2' }), [3])
})

test('list(): filters by template and by features of messages', async (t) => {
  const fixture = await coreFixture(t)
  const template = { id: 'tpl_1', slug: 'welcome', version: 2 }
  const file = 'multipart/mixed; boundary=x'
  const ids = await submitSome(fixture, 6, (i) => ({
    ...(i === 1 && { template }),
    ...(i === 2 && { attachments: 1 }),
    ...(i === 3 && {
      facts: { ...factsDefaults, hasAttachment: parseHeaders(Buffer.from(`Content-Type: ${file}\r\n\r\n`)).hasAttachment },
    }),
  }))
  const fate = async (i: number, changes: Partial<Trace>, one: object = {}) => {
    const trace = await fixture.trace(ids[i] ?? '')
    await fixture.put<Trace>(traces, { ...trace, ...changes, recipients: trace.recipients.map((before) => ({ ...before, ...one })) })
  }
  const report = { type: 'bounced', at: 1, reason: 'gone', bounce: 'hard' } as const
  await fate(2, { status: 'bounced' }, { status: 'bounced', report })
  await fate(4, { status: 'queued', attempts: 2 }, { status: 'queued', reply: { code: 451, text: 'later' } })
  await fate(5, { hasUnsubscribeLink: true })
  const list = async (filter: TraceFilter) =>
    (await pages(fixture, filter, 2))
      .flat()
      .map((id) => ids.indexOf(id))
      .toSorted((a, b) => a - b)
  t.deepEqual([await list({ template: 'welcome' }), await list({ template: 'tpl_1' }), await list({ template: 'none' })], [[1], [1], []])
  t.deepEqual(await list({ has: ['template'] }), [1])
  t.deepEqual(await list({ has: ['attachment'] }), [2, 3])
  t.deepEqual(await list({ has: ['attachment', 'report'] }), [2])
  t.deepEqual(await list({ has: ['bounce'] }), [2])
  t.deepEqual(await list({ has: ['error'] }), [2, 4])
  t.deepEqual(await list({ has: ['retry'] }), [4])
  t.deepEqual(await list({ has: ['unsubscribe'] }), [5])
  t.deepEqual(await list({ has: ['tracking'] }), [])
  t.deepEqual(await list({ has: [] }), [0, 1, 2, 3, 4, 5])
})

test('list(): scans 2,000 traces per page, and continues from the cursor', async (t) => {
  const fixture = await coreFixture(t)
  const rare = await fixture.submit({ mailFrom: 'rare@example.com' })
  fixture.clock.advance(1)
  for (let i = 0; i < 45; i++) await Promise.all(Array.from({ length: 50 }, () => fixture.submit()))
  const first = await fixture.traces.list(principal, { from: 'rare@example.com', limit: 50 })
  t.deepEqual(first.rows, [])
  t.truthy(first.nextCursor)
  t.deepEqual(await fixture.traces.counts(principal, {}), { total: 2000, counts: { captured: 2000 }, bounces: 0, complete: false })
  const second = await fixture.traces.list(principal, { from: 'rare@example.com', limit: 50, cursor: first.nextCursor })
  t.deepEqual(column(second.rows, 'id'), [rare.traceId])
  t.is((await fixture.database.get(traces, { organizationId }, rare.traceId))?.record.id, rare.traceId)
})

test('list(), counts(): start at the end of the period, not at the newest trace', async (t) => {
  const fixture = await coreFixture(t)
  const old = await fixture.submit()
  fixture.clock.advance(1000)
  for (let i = 0; i < 41; i++) await Promise.all(Array.from({ length: 50 }, () => fixture.submit()))
  const filter = { until: startOfTime + 1000 }
  t.deepEqual(column((await fixture.traces.list(principal, { ...filter, limit: 50 })).rows, 'id'), [old.traceId])
  t.deepEqual(await fixture.traces.counts(principal, filter), { total: 1, counts: { captured: 1 }, bounces: 0, complete: true })
})

test('list(): scans many traces in a few reads, even for small pages', async (t) => {
  const fixture = await coreFixture(t)
  await submitSome(fixture, 30)
  const { kv } = fixture.database
  const range = kv.range.bind(kv)
  let walks = 0
  kv.range = (wanted) => {
    if (Buffer.from(wanted.start).includes('\x02send\0')) walks++ // excludes walks of background work
    return range(wanted)
  }
  for (const filter of [{ q: 'stands nowhere' }, { status: 'failed' }] satisfies TraceFilter[]) {
    walks = 0
    t.deepEqual(await fixture.traces.list(principal, { ...filter, limit: 1 }), { rows: [], nextCursor: undefined })
    t.true(walks <= 8, `${walks} walks: two to find the project, three of its ranges, and further steps of one`)
  }
})

test('list(): finds text in any composition, and internationalized domains', async (t) => {
  const fixture = await coreFixture(t)
  const composed = (await fixture.submit({ facts: { ...factsDefaults, subject: 'Caf\u00e9' }, rcptTo: ['ada@xn--mller-kva.example'] }))
    .traceId
  fixture.clock.advance(1000)
  const apart = (await fixture.submit({ facts: { ...factsDefaults, subject: 'cafe\u0301' } })).traceId
  const found = async (q: string) => (await pages(fixture, { q }, 10)).flat()
  t.deepEqual(await found('CAFE\u0301'), [apart, composed])
  t.deepEqual(await found('caf\u00e9'), [apart, composed])
  t.deepEqual(await found('@M\u00dcLLER.example'), [composed])
  t.deepEqual(await found('xn--mller-kva'), [composed])
})
