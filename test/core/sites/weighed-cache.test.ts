/** The cache of websites: bounded by weight, and what is used stays before what is not. */
import test from '#test'
import { WeighedCache } from '#core/sites/serving/weighed-cache.ts'

test('what was used since its last turn stays, and all together never weigh more than they may', (t) => {
  const cache = new WeighedCache<number>(80)
  for (let i = 0; i < 8; i++) cache.set(`k${i}`, i, 10)
  t.is(cache.get('k0'), 0)
  cache.set('k8', 8, 10) // all came lately: the first goes
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
