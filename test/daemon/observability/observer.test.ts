/** Where the events of the doors go. */
import test from '#test'
import type { AttemptReport } from '#core/delivery/transport.ts'
import type { Trace } from '#core/trace/trace.ts'
import { withoutAddresses } from '../../../daemon/observability/clean-text.ts'
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

function observing() {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const decisions = new Decisions()
  const reader = decisions.watch().getReader()
  const observer = new Observer(new PartLogs(log, {}), new Metrics(), decisions)
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

test('attempted() warns once for each reply and domain that failed, with recipient, codes and words', async (t) => {
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

test('attempted() warns of an error with the recipients that it keeps from their mail', async (t) => {
  const { observer, lines, decided } = observing()
  const error = { code: 'connect_timeout', message: 'mail.example.ch:587 did not answer within 30 s.', phase: 'connect' }
  observer.attempted(trace, reportOf([{ address: 'ada@example.ch', verdict: 'transient' }], error), 'dst_1', 0)
  t.is(lines.length, 1)
  t.like(lines[0], { level: 'warn', error: 'connect_timeout', reason: error.message, recipient: '***@example.ch', verdict: 'transient' })
  t.like(await decided(), [{ kind: 'attempt', code: 'connect_timeout', reason: error.message, recipient: 'ada@example.ch' }])
})

test('interrupted() warns of an attempt that the end of a process cut off', async (t) => {
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

test('refused() tells the words of an SMTP refusal, without addresses in the log', async (t) => {
  const { observer, lines, decided } = observing()
  observer.refused('550 5.7.1', { sessionId: 's1', remoteAddress: '192.0.2.1' } as never, 'shop@example.ch may not send here.')
  t.like(lines[0], { level: 'info', msg: 'smtp refusal', reply: '550 5.7.1', reason: '***@example.ch may not send here.' })
  t.like(await decided(), [{ kind: 'refused', code: '550 5.7.1', reason: 'shop@example.ch may not send here.' }])
})

test('withoutAddresses() keeps domains, takes quoted local parts too, and reads long texts once', (t) => {
  t.is(
    withoutAddresses('no <gone@b.test>, "x y"@b.test a@b@c.test to=d@e.test @ f@'),
    'no <***@b.test>, ***@b.test ***@c.test ***@e.test @ f@',
  )
  t.is(withoutAddresses('"'.repeat(100_000)).length, 100_000)
  t.is(withoutAddresses('a@'.repeat(100_000)), '***@a@')
})
