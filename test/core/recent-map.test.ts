/** A map with a maximum size. */
import test from '#test'
import { RecentMap } from '#core/recent-map.ts'

test('RecentMap: removes the entry set longest ago; setting again renews an entry', (t) => {
  const map = new RecentMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  t.deepEqual(Object.fromEntries(map), { a: 3, c: 4 })
})
