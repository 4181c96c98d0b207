/** A lane is held as long as its endpoint has anything waiting, however that went, and no longer. */
import test from 'ava'
import { Lane } from '#core/webhooks/sending/endpoint-queue.ts'

const row = (dueMs: number) => ({ endpointId: 'whk_1', dueMs, id: 'wha_1', organizationId: 'org_1' })

test('a lane is idle when nothing is due now or later, also after failures', (t) => {
  const lane = new Lane('whk_1')
  for (let i = 0; i < 6; i++) lane.failed(0, 10)
  lane.hasUnread = false
  lane.load([row(60_000)], true, 1000)
  t.false(lane.isIdle)
  lane.load([], true, 1000)
  t.true(lane.isIdle)
  lane.underWay.add('wha_1')
  t.false(lane.isIdle)
})
