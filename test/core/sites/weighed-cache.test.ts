/** The cache of websites: limited by weight, with recently used entries kept longest. */
import test from '#test'
import { WeighedCache } from '#core/sites/serving/weighed-cache.ts'

test('WeighedCache keeps entries used since their last turn, within the total weight', (t) => {
  const cache = new WeighedCache<number>(80)
  for (let i = 0; i < 8; i++) cache.set(`k${i}`, i, 10)
  t.is(cache.get('k0'), 0)
  cache.set('k8', 8, 10) // all are recent, so the first is removed
  t.is(cache.get('k0'), undefined)
  t.is(cache.get('k1'), 1)
  cache.set('k9', 9, 10)
  t.is(cache.get('k1'), 1, 'used since')
  t.is(cache.get('k2'), undefined)
  cache.set('k9', 10, 10)
  t.is(cache.get('k9'), 10)
  cache.set('k9', 11, 11)
  t.is(cache.get('k9'), undefined, 'more than an eighth: not kept, and the old one is gone')
  for (let i = 0; i < 1000; i++) cache.set(`n${i}`, i, 10)
  const kept = Array.from({ length: 1000 }, (_, i) => cache.get(`n${i}`)).filter((value) => value !== undefined)
  t.is(kept.length, 8)
  t.true(kept.includes(999))
})
