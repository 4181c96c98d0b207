/** Where the events of the doors go. */
import test from '#test'
import { Decisions } from '../../../daemon/observability/decisions.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { Metrics } from '../../../daemon/observability/metrics.ts'
import { PartLogs } from '../../../daemon/observability/part-logs.ts'
import { Observer } from '../../../daemon/observability/observer.ts'

test('answered() counts a refusal by its code and logs it with its reason, and other requests only for debugging', async (t) => {
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics()
  const log = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const observer = new Observer(new PartLogs(log, {}), metrics, new Decisions())
  const answer = {
    operationId: 'getTrace',
    method: 'GET',
    durationMs: 1.23456,
    requestId: 'req_1',
    organizationId: 'org_1',
    grantId: undefined,
  }
  observer.answered({ ...answer, status: 404, code: 'not_found', reason: 'There is no such trace.' })
  observer.answered({ ...answer, status: 200, code: undefined, reason: undefined })
  const rows = (await metrics.render()).split('\n').filter((row) => row.startsWith('postern_refusals_total'))
  t.deepEqual(rows, ['postern_refusals_total{door="rest",code="not_found"} 1'])
  const refusal = {
    code: 'not_found',
    reason: 'There is no such trace.',
    operation: 'getTrace',
    organization_id: 'org_1',
    milliseconds: 1.2,
  }
  t.like(lines[0], { level: 'info', msg: 'http refusal', ...refusal })
  t.like(lines[1], { level: 'debug', msg: 'http request', durationMs: 1.2 })
})

test('breakerChanged() counts the change, warns of a breaker that opens with its reason and the next trial, and tells when it closes', async (t) => {
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics()
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const observer = new Observer(new PartLogs(log, {}), metrics, new Decisions())
  const until = Date.UTC(2030, 0, 1)
  observer.breakerChanged('dst_1', { phase: 'open', since: until - 30_000, cause: null, reason: 'Refused.', until })
  observer.breakerChanged('dst_1', { phase: 'closed', since: until, cause: null, reason: null, until: null })
  t.like(lines[0], {
    level: 'warn',
    destination_id: 'dst_1',
    breaker: 'open',
    reason: 'Refused.',
    next_trial_at: '2030-01-01T00:00:00.000Z',
  })
  t.like(lines[1], { level: 'info', destination_id: 'dst_1', breaker: 'closed' })
  const rows = (await metrics.render()).split('\n').filter((row) => row.startsWith('postern_breaker_changes_total'))
  t.deepEqual(rows, ['postern_breaker_changes_total{state="open"} 1', 'postern_breaker_changes_total{state="closed"} 1'])
})
