/** A lane is held as long as its endpoint has anything waiting, however that went, and no longer. */
import test from '#test'
import { EndpointQueue } from '#core/webhooks/sending/endpoint-queue.ts'

const row = (dueMs: number) => ({ endpointId: 'whk_1', dueMs, id: 'wha_1', organizationId: 'org_1' })

test('a lane is idle when nothing is due now or later, also after failures', (t) => {
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
