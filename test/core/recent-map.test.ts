/** A map that keeps the entries that were set last. */
import test from '#test'
import { RecentMap } from '#core/recent-map.ts'

test('beyond its size the entry goes that was set longest ago; one that is set again is new', (t) => {
  const map = new RecentMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  t.deepEqual(Object.fromEntries(map), { a: 3, c: 4 })
})
