import test from '#test'
import { Database } from '#store/database.ts'
import { newTraceId, OrderedIds, RecordIds } from '#store/ids.ts'
import { storeOf } from './level/folders.ts'

test('RecordIds: an id is the prefix and a UUIDv7 of the time (RFC 9562 §5.7)', (t) => {
  const ids = new RecordIds()
  for (let i = 0; i < 2000; i++) t.regex(ids.next('prj', 0x1935c7a1b2c + i), /^prj_0[0-9a-f]{11}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
  t.true(ids.next('prj', 0x1935c7a1b2c).startsWith('prj_01935c7a1b2c'))
})

test('RecordIds: ids sort by time and never repeat', (t) => {
  const made = new RecordIds()
  const ids = Array.from({ length: 20_000 }, (_, i) => made.next('dst', 1_700_000_000_000 + (i >> 2)))
  t.is(new Set(ids).size, ids.length)
  t.deepEqual(
    ids.map((id) => id.slice(0, 16)).toSorted(),
    ids.map((id) => id.slice(0, 16)),
  )
})

test('RecordIds: ids sort within a repeated millisecond', (t) => {
  const made = new RecordIds()
  const times = [5, 5, 6, 5, 7, 6, 5, 7]
  const ids = times.map((ms) => made.next('dst', 1_800_000_000_000 + ms))
  const ofFive = ids.filter((_, i) => times[i] === 5)
  t.deepEqual(ofFive, ofFive.toSorted())
})

test('newId(): databases with the same fixed clock each create sorted ids', async (t) => {
  // a shared sequence would reach its limit of 4,096
  const made: string[][] = []
  for (let i = 0; i < 5; i++) {
    const database = new Database((await storeOf(t)).kv)
    made.push(Array.from({ length: 1000 }, () => database.newId('dst', 1_800_000_000_000)))
  }
  for (const ids of made) t.deepEqual(ids, ids.toSorted())
  t.is(new Set(made.flat()).size, 5000)
})

test('newTraceId() is a UUIDv4 that never repeats (RFC 9562 §5.4)', (t) => {
  const ids = Array.from({ length: 2000 }, newTraceId)
  for (const id of ids) t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.is(new Set(ids).size, ids.length)
})

test('OrderedIds: ids sort in order of creation, also when the clock goes back', (t) => {
  const all = new RecordIds()
  const ids = new OrderedIds(all, 'cap')
  const made = [5, 5, 7, 1, 1, 6, 7, 8].map((ms) => ids.next(1_900_000_000_000 + ms))
  for (let i = 0; i < 10_000; i++) made.push(ids.next(1_900_000_000_008)) // more than the ids of one millisecond
  for (let i = 0; i < 300; i++) all.next('dst', 1_950_000_000_000 + i) // ids of other kinds and times
  made.push(ids.next(1_900_000_000_000))
  t.deepEqual(made, made.toSorted())
  t.is(new Set(made).size, made.length)
  t.is(made[0]?.slice(4, 16), (1_900_000_000_005).toString(16).padStart(12, '0'))
})
