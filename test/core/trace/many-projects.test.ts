/** Lists of an organization with many projects read as little as possible of each. */
import test from '#test'
import { traceList } from '#core/trace/trace-walk.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { cursorAt, CursorInvalid } from '#store/cursor.ts'
import { Database } from '#store/database.ts'
import type { Range } from '#store/kv.ts'
import { pack } from '#store/tuple.ts'
import { organizationId, relaying } from '../core-fixture.ts'
import { take } from '../scripted-transport.ts'

test('trace list: two reads per project with traces; one read by recipient', async (t) => {
  const fixture = await relaying(t, take)
  const { traceId } = await fixture.submit({ rcptTo: ['anna@example.net'] })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const first = await fixture.trace(traceId)
  const change = new Change()
  const ids = [traceId]
  for (let i = 1; i < 40; i++) {
    ids.push(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)
    change.insertCold(traces, organizationId, { ...first, id: ids[i] ?? '', projectId: `prj_${i}`, createdAt: first.createdAt - i })
  }
  await fixture.database.commit(change)
  let reads = 0
  const range = fixture.kv.range.bind(fixture.kv)
  const counting = new Database(fixture.kv)
  fixture.kv.range = (wanted: Range) => {
    reads++
    return range(wanted)
  }
  const listed = async (query: { readonly ascending?: boolean; readonly to?: string }): Promise<readonly [string[], number]> => {
    reads = 0
    const { rows } = await traceList(counting, { organizationId }, { ...query, limit: 10 })
    return [rows.map(({ record }) => record.id), reads]
  }
  const [newest, readsOfNewest] = await listed({})
  t.deepEqual(newest, ids.slice(0, 10))
  t.true(readsOfNewest <= 2 * 40 + 2 + 11, String(readsOfNewest))
  const [oldest, readsOfOldest] = await listed({ ascending: true })
  t.deepEqual(oldest, ids.slice(-10).toReversed())
  t.true(readsOfOldest <= 2 * 40 + 2 + 11, String(readsOfOldest))
  const [to, readsTo] = await listed({ to: 'anna@example.net' })
  t.deepEqual(to, ids.slice(0, 10))
  t.true(readsTo <= 40 + 3, String(readsTo))
})

test('trace list: refuses any forged cursor', async (t) => {
  const { database } = await relaying(t, take)
  const list = [organizationId, traces.name, '', '']
  for (const place of [['x', 'y', 'z'], [-1, '', ''], [1], [1, 2, 3], [Buffer.of(1), Buffer.of(2), Buffer.of(3)]]) {
    const cursor = cursorAt(list, pack([...list, ...place]))
    await t.throwsAsync(traceList(database, { organizationId }, { limit: 3, cursor }), { instanceOf: CursorInvalid }, String(place))
  }
  const cursor = cursorAt(list, pack([...list, 1, '', 'a']))
  t.deepEqual((await traceList(database, { organizationId }, { limit: 3, cursor })).rows, [])
})
