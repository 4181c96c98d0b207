/** Figures of the last hour, compared with a list of all attempts. */
import test from '#test'
import { RollingHour } from '#core/delivery/health/rolling-hour.ts'

const minute = 60_000

test('RollingHour: without attempts, has no percentiles and no errors', (t) => {
  t.deepEqual(new RollingHour().figures(5 * minute), { attempts: 0, errors: 0, errorRate: 0, p50Ms: null, p95Ms: null, lastMs: null })
})

test('RollingHour: counts exactly; percentiles are at most half too high', (t) => {
  const hour = new RollingHour()
  const all: { readonly at: number; readonly ms: number; readonly isError: boolean }[] = []
  let seed = 7
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let n = 0, at = 0; n < 5000; n++) {
    at += random() * 4000
    const one = { at, ms: Math.exp(random() * 10), isError: random() < 0.2 }
    all.push(one)
    hour.add(one.at, one.ms, one.isError)
    if (n % 250 !== 0) continue
    const from = (Math.floor(at / minute) - 59) * minute
    const last = all.filter((entry) => entry.at >= from)
    const sorted = last.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const exact = (part: number): number => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
    const { attempts, errors, p50Ms, p95Ms } = hour.figures(at)
    t.deepEqual([attempts, errors], [last.length, last.filter(({ isError }) => isError).length])
    for (const [found, part] of [
      [p50Ms, 0.5],
      [p95Ms, 0.95],
    ] as const) {
      t.true(found !== null && found >= exact(part) - 1 && found <= Math.max(4, exact(part) * 1.5 + 1), `${found} for ${exact(part)}`)
    }
  }
})

test('RollingHour: drops attempts after an hour, and supports shorter spans', (t) => {
  const hour = new RollingHour()
  hour.add(0, 10, true)
  hour.add(30 * minute, 100, false)
  t.is(hour.figures(30 * minute).attempts, 2)
  t.is(hour.figures(30 * minute, 5).attempts, 1)
  t.is(hour.figures(60 * minute).attempts, 1)
  t.is(hour.figures(90 * minute).attempts, 0)
})

test('RollingHour: reports the exact last latency for an hour', (t) => {
  const hour = new RollingHour()
  hour.add(0, 10, false)
  hour.add(1000, 1234.4, true)
  t.is(hour.figures(2000).lastMs, 1234)
  t.is(hour.figures(59 * minute).lastMs, 1234)
  t.is(hour.figures(60 * minute).lastMs, null)
})
