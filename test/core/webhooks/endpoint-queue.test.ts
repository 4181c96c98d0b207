/** An endpoint's queue stays in memory exactly as long as it has waiting rows or attempts. */
import test from '#test'
import { EndpointQueue } from '#core/webhooks/sending/endpoint-queue.ts'

const row = (dueMs: number) => ({ endpointId: 'whk_1', dueMs, id: 'wha_1', organizationId: 'org_1' })

test('EndpointQueue is idle if nothing is due now or later, also after failures', (t) => {
  const queue = new EndpointQueue('whk_1')
  for (let i = 0; i < 6; i++) queue.failed(0, 10)
  queue.hasUnread = false
  queue.load([row(60_000)], true, 1000)
  t.false(queue.isIdle)
  queue.load([], true, 1000)
  t.true(queue.isIdle)
  queue.inFlight.add('wha_1')
  t.false(queue.isIdle)
})
