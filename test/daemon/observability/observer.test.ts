/** Log lines and counters for events of the entry points. */
import test from '#test'
import type { AttemptReport } from '#core/delivery/transport.ts'
import type { Trace } from '#core/trace/trace.ts'
import { StoreDamaged } from '#store/kv.ts'
import { pack } from '#store/tuple.ts'
import { withoutAddresses } from '../../../daemon/observability/clean-text.ts'
import { Decisions } from '../../../daemon/observability/decisions.ts'
import { DefectLog } from '../../../daemon/observability/defect-log.ts'
import { MailDoorObserver } from '../../../daemon/observability/mail-door-observer.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'
import { Metrics } from '../../../daemon/observability/metrics.ts'
import { PartLogs } from '../../../daemon/observability/part-logs.ts'
import { Observer } from '../../../daemon/observability/observer.ts'

test('answered(): counts and logs refusals; logs other requests at debug level only', async (t) => {
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics()
  const log = createLogger('debug', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const observer = new Observer(new PartLogs(log, {}), metrics, new Decisions(), new DefectLog())
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

test('breakerChanged(): counts changes and logs opening and closing with the reason', async (t) => {
  const lines: Record<string, unknown>[] = []
  const metrics = new Metrics()
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const observer = new Observer(new PartLogs(log, {}), metrics, new Decisions(), new DefectLog())
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

function observing() {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const decisions = new Decisions()
  const reader = decisions.watch().getReader()
  const observer = new Observer(new PartLogs(log, {}), new Metrics(), decisions, new DefectLog())
  const decided = async (): Promise<Record<string, unknown>[]> => {
    const { value } = await reader.read()
    const text = new TextDecoder().decode(value).trim()
    return text === '' ? decided() : text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  return { observer, lines, decided }
}

const trace = { id: 'b7e6f1f2-0000-4000-8000-000000000000', status: 'queued', attempts: 2 } as Trace
const reportOf = (recipients: AttemptReport['recipients'], error?: AttemptReport['error']): AttemptReport => ({
  ...{ recipients, error, host: 'mail.example.ch', port: 587, reused: false, milliseconds: { total: 12.34 } },
})
const busy = { code: 451, enhanced: '4.7.1', text: 'Greylisted, come back\nin a minute' }

test('attempted(): warns once per failed reply and domain, with codes and text', async (t) => {
  const { observer, lines, decided } = observing()
  const recipients = [
    { address: 'ada@example.ch', verdict: 'accepted' as const },
    { address: 'bob@example.ch', verdict: 'transient' as const, reply: busy },
    { address: 'eve@example.ch', verdict: 'transient' as const, reply: busy },
    {
      address: 'gone@example.net',
      verdict: 'permanent' as const,
      reply: { code: 550, text: 'no <gone@example.net> here, ask admin@mail.example.net' },
    },
  ]
  observer.attempted(trace, reportOf(recipients), 'dst_1', 0)
  t.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ['info', 'delivery attempt'],
      ['warn', 'delivery attempt failed'],
      ['warn', 'delivery attempt failed'],
    ],
  )
  t.like(lines[1], {
    ...{ trace_id: trace.id, destination_id: 'dst_1', attempt: 2, status: 'queued', verdict: 'transient', recipient: '***@example.ch' },
    ...{ recipients: 2, reply_code: 451, enhanced_status: '4.7.1', reason: 'Greylisted, come back in a minute' },
  })
  t.like(lines[2], { recipient: '***@example.net', reply_code: 550, reason: 'no <***@example.net> here, ask ***@mail.example.net' })
  t.false('enhanced_status' in (lines[2] ?? {}))
  const shown = await decided()
  t.like(shown, [
    { kind: 'attempt', status: 'queued', verdict: 'transient', code: '451 4.7.1', recipient: 'bob@example.ch (+1)' },
    { kind: 'attempt', code: '550', reason: 'no <gone@example.net> here, ask admin@mail.example.net', recipient: 'gone@example.net' },
  ])
})

test('attempted(): warns of an error with the affected recipients', async (t) => {
  const { observer, lines, decided } = observing()
  const error = { code: 'connect_timeout', message: 'mail.example.ch:587 did not answer within 30 s.', phase: 'connect' }
  observer.attempted(trace, reportOf([{ address: 'ada@example.ch', verdict: 'transient' }], error), 'dst_1', 0)
  t.is(lines.length, 1)
  t.like(lines[0], { level: 'warn', error: 'connect_timeout', reason: error.message, recipient: '***@example.ch', verdict: 'transient' })
  t.like(await decided(), [{ kind: 'attempt', code: 'connect_timeout', reason: error.message, recipient: 'ada@example.ch' }])
})

test('interrupted(): warns of an attempt that the end of a process interrupted', async (t) => {
  const { observer, lines, decided } = observing()
  observer.interrupted(trace, {
    number: 2,
    destinationId: 'dst_1',
    startedAt: 0,
    state: 'unknown',
    error: { code: 'interrupted', message: 'Ended.', phase: 'unknown' },
  })
  t.like(lines[0], {
    level: 'warn',
    msg: 'delivery attempt failed',
    trace_id: trace.id,
    attempt: 2,
    error: 'interrupted',
    reason: 'Ended.',
  })
  t.like(await decided(), [{ kind: 'attempt', code: 'interrupted', trace_id: trace.id }])
})

test('bounced() warns of a recipient that another server refused later', async (t) => {
  const { observer, lines, decided } = observing()
  const diagnostic = '550 5.1.1 <gone@example.net>: unknown'
  observer.bounced({
    traceId: trace.id,
    recipient: 'gone@example.net',
    bounce: 'hard',
    status: '5.1.1',
    smtpCode: 550,
    diagnostic,
    reason: 'No such mailbox.',
  })
  t.like(lines[0], {
    ...{ level: 'warn', msg: 'delivery bounced', trace_id: trace.id, recipient: '***@example.net', bounce: 'hard' },
    ...{ reply_code: 550, enhanced_status: '5.1.1', reason: '550 5.1.1 <***@example.net>: unknown' },
  })
  t.like(await decided(), [{ kind: 'bounced', code: '550 5.1.1', reason: diagnostic, recipient: 'gone@example.net', trace_id: trace.id }])
})

test('refused(): logs the text of an SMTP refusal without addresses', async (t) => {
  const { observer, lines, decided } = observing()
  observer.refused('550 5.7.1', { sessionId: 's1', remoteAddress: '192.0.2.1' } as never, 'shop@example.ch may not send here.')
  t.like(lines[0], { level: 'info', msg: 'smtp refusal', reply: '550 5.7.1', reason: '***@example.ch may not send here.' })
  t.like(await decided(), [{ kind: 'refused', code: '550 5.7.1', reason: 'shop@example.ch may not send here.' }])
})

test('withoutAddresses(): removes local parts, also quoted ones, in linear time', (t) => {
  t.is(
    withoutAddresses('no <gone@b.test>, "x y"@b.test a@b@c.test to=d@e.test @ f@'),
    'no <***@b.test>, ***@b.test ***@c.test ***@e.test @ f@',
  )
  t.is(withoutAddresses('"'.repeat(100_000)).length, 100_000)
  t.is(withoutAddresses('a@'.repeat(100_000)), '***@a@')
})

test('damaged store: logs each error text at most once a minute, without a stack', (t) => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const logs = new PartLogs(log, {})
  let now = 0
  const defects = new DefectLog(() => now)
  const observer = new Observer(logs, new Metrics(), new Decisions(), defects)
  const doors = new MailDoorObserver(logs, new Metrics(), defects)
  const damage = new StoreDamaged('The store is damaged.', { key: pack(['org_1', 'suppression', 'anna@example.net']) })
  const session = { sessionId: 'ses_1' } as never
  const reportAll = (nth: number): void => {
    observer.broke('delivery', damage, 'trc_1')
    observer.broke('delivery', new Error('later', { cause: damage }), 'trc_2')
    observer.broke('counts', damage)
    observer.failed(damage, { requestId: `req_${nth}`, operationId: 'listTraces' })
    observer.defect(damage, session)
    doors.defect(damage, session)
  }
  for (let i = 0; i < 1000; i++) reportAll(i)
  t.is(lines.length, 6)
  const common = { level: 'error', problem: 'The store is damaged.', row: '["org_1","suppression","***@example.net"]' }
  t.like(lines[0], { ...common, id: 'trc_1', msg: 'delivery failed: the store is damaged' })
  t.like(lines[1], { ...common, id: 'trc_2' })
  t.like(lines[2], { ...common, msg: 'counts failed: the store is damaged' })
  t.like(lines[3], { ...common, request_id: 'req_0', operation: 'listTraces', msg: 'a request failed: the store is damaged' })
  t.like(lines[4], { ...common, session: 'ses_1', msg: 'an smtp session failed: the store is damaged' })
  t.like(lines[5], { ...common, session: 'ses_1', msg: 'an mx session failed: the store is damaged' })
  t.notRegex(JSON.stringify(lines), /stack|anna/)
  now = 60_000
  reportAll(1)
  t.is(lines.length, 12)

  const unexpected = new TypeError('no')
  for (let i = 0; i < 2; i++) observer.broke('delivery', unexpected, 'trc_1')
  t.is(lines.length, 14)
  t.like(lines[13], { id: 'trc_1', msg: 'unexpected error in delivery' })
  t.regex(JSON.stringify(lines[13]), /"stack":\["at /)
})
