/** What becomes of the things that the doors tell. */
import test from 'ava'
import { createLogger } from '../../daemon/logging.ts'
import { Metrics } from '../../daemon/metrics.ts'
import { Observer } from '../../daemon/observer.ts'

test('answered() counts a refusal by its code, and logs time to a tenth', async (t) => {
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics()
  const log = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const observer = new Observer(log, metrics)
  const answer = { operationId: 'getTrace', method: 'GET', durationMs: 1.23456, requestId: 'req_1', grantId: undefined }
  observer.answered({ ...answer, status: 404, code: 'not_found' })
  observer.answered({ ...answer, status: 200, code: undefined })
  const rows = (await metrics.render()).split('\n').filter((row) => row.startsWith('postern_refusals_total'))
  t.deepEqual(rows, ['postern_refusals_total{door="rest",code="not_found"} 1'])
  t.deepEqual(
    lines.map((line) => line['durationMs']),
    [1.2, 1.2],
  )
})
