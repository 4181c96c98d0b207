/** Attempts in flight at one destination, and the room within its limits. */
import test from '#test'
import { DestinationLoad, type DeliveryLimits } from '#core/delivery/health/destination-load.ts'

const limits: DeliveryLimits = { maxConnections: 3, maxRatePerMin: null }

test('DestinationLoad: one attempt while limits are unknown or during a trial', (t) => {
  const load = new DestinationLoad('dst_1')
  t.is(load.width, 1)
  load.limits = limits
  t.is(load.width, 6, 'two messages per connection')
  load.limits = { ...limits, breaker: { pauseMs: 0, onTrial: true } }
  t.is(load.width, 1)
  load.limits = { ...limits, breaker: { pauseMs: 5, onTrial: false } }
  t.is(load.width, 1, 'a trial attempt')
  load.limits = { ...limits, breaker: { pauseMs: 0, onTrial: false } }
  t.is(load.width, 6)
  for (let begun = 0; begun < 6; begun++) {
    t.true(load.hasRoom)
    load.begin(0)
  }
  t.false(load.hasRoom)
})

test('restMs(): follows the current rate since the last attempt', (t) => {
  const load = new DestinationLoad('dst_1')
  load.limits = { ...limits, maxRatePerMin: 6 }
  t.is(load.restMs(0), 0)
  load.begin(1000)
  t.deepEqual(
    [1000, 10_999, 11_000].map((now) => load.restMs(now)),
    [10_000, 1, 0],
  )
  load.limits = { ...limits, maxRatePerMin: 60 }
  t.deepEqual(
    [1000, 2000].map((now) => load.restMs(now)),
    [1000, 0],
  )
  load.limits = limits
  t.is(load.restMs(1000), 0)
})
