/** Table of trace states, timeline and public view. */
import test from '#test'
import type { AttemptRecord } from '#core/trace/attempt-record.ts'
import type { TraceReport } from '#core/trace/trace-report.ts'
import { maskAddress, redactTrace } from '#core/trace/timeline/redact.ts'
import { advance, traceStatuses, worstStatus, type TraceEvent, type TraceStatus } from '#core/trace/states.ts'
import { timelineOf } from '#core/trace/timeline/send-timeline.ts'
import type { Trace } from '#core/trace/trace.ts'
import { startOfTime } from '../../support/fake-clock.ts'

const events: readonly TraceEvent[] = [
  ...(['routed', 'captured', 'invalid', 'suppressed', 'accepted_by_provider', 'gave_up'] as const),
  ...(['retried', 'canceled', 'delivery_reported', 'bounce_reported', 'complaint_reported'] as const),
]

test('advance(): has exactly the specified transitions', (t) => {
  const found = traceStatuses.flatMap((from) =>
    events.flatMap((event) => (advance(from, event) === from ? [] : [`${from} --${event}--> ${advance(from, event)}`])),
  )
  t.deepEqual(found, [
    'pending --routed--> queued',
    'pending --captured--> captured',
    'pending --invalid--> validation_failed',
    'pending --suppressed--> suppressed',
    'pending --canceled--> canceled',
    'queued --captured--> captured', // a scheduled send that is captured at its time
    'queued --suppressed--> suppressed',
    'queued --accepted_by_provider--> sent',
    'queued --gave_up--> failed',
    'queued --canceled--> canceled',
    'sent --delivery_reported--> delivered',
    'sent --bounce_reported--> bounced',
    'sent --complaint_reported--> complained',
    'failed --retried--> queued',
  ])
})

test('worstStatus(): prefers queued and pending, then the worst status', (t) => {
  const worst = (...statuses: TraceStatus[]) => worstStatus(statuses)
  t.is(worst('sent', 'queued', 'failed'), 'queued')
  t.is(worst('sent', 'failed'), 'failed')
  t.is(worst('delivered', 'sent'), 'sent')
  t.is(worst('bounced', 'delivered', 'complained'), 'bounced')
  t.is(worst('captured'), 'captured')
  t.is(worst('suppressed', 'pending'), 'pending', 'a report does not end a message that waits for an approval')
  t.is(worst(), 'pending')
  for (const a of traceStatuses) for (const b of traceStatuses) t.is(worst(a, b), worst(b, a), `${a} ${b}`)
})

const sha256 = 'f'.repeat(64)
const trace: Trace = {
  id: '5f0c1f60-3c5e-4b58-9d1e-0f6f8f7b6a11',
  projectId: 'prj_secret',
  door: 'smtp',
  submittedBy: 'crd_secret',
  createdAt: startOfTime,
  updatedAt: startOfTime + 2000,
  status: 'failed',
  outcome: 'relayed',
  outcomeReason: 'The destination Topsecret is live.',
  mailFrom: 'bounce@sender-secret.example',
  recipients: [
    { address: 'anna@recipient.example', status: 'sent', reply: { code: 250, text: 'queued as 4bXyZ91Qwz' } },
    {
      address: 'zoë@other.example',
      status: 'failed',
      reply: { code: 550, enhanced: '5.1.1', text: '<zoë@other.example>: User zoë unknown' },
    },
  ],
  headerFrom: 'shop@header-secret.example',
  subject: 'subject-secret',
  messageId: 'message-secret@id',
  destinationId: 'dst_secret',
  route: { by: 'rule', ruleId: 'rul_secret', reason: 'Rule any (priority 1) selects the destination Topsecret.' },
  content: { id: 'content-secret', size: 4711, sha256, rows: 1 },
  prefix: 'Received: from helo-secret\r\n',
  eightBit: false,
  smtputf8: false,
  attempts: 1,
  unknownAttempts: 0,
  nextAttemptAt: null,
}
const attempt: AttemptRecord = {
  number: 1,
  destinationId: 'dst_secret',
  startedAt: startOfTime + 500,
  endedAt: startOfTime + 2000,
  state: 'finished',
  provider: 'smtp',
  host: 'host-secret.example',
  port: 2525,
  address: '192.0.2.77',
  tls: { version: 'TLSv1.3', cipher: 'cipher-secret', verified: true },
  reused: false,
  error: { code: 'error-secret', message: 'message-secret of the error', phase: 'rcpt' },
  milliseconds: { total: 1500 },
  recipients: trace.recipients.map(({ address, reply }) => ({ address, verdict: 'permanent', reply })),
  nextAttemptAt: startOfTime + 60_000,
}

test('redactTrace(): shows its listed fields', (t) => {
  t.deepEqual(redactTrace(trace, [attempt], []), {
    traceId: trace.id,
    status: 'failed',
    outcome: 'relayed',
    createdAt: startOfTime,
    updatedAt: startOfTime + 2000,
    provider: 'smtp',
    recipients: [
      { address: '***@recipient.example', status: 'sent' },
      { address: '***@other.example', status: 'failed' },
    ],
    replies: [
      { at: startOfTime + 2000, attempt: 1, verdict: 'permanent', code: 250, enhanced: null, text: 'queued as 4bXyZ91Qwz' },
      { at: startOfTime + 2000, attempt: 1, verdict: 'permanent', code: 550, enhanced: '5.1.1', text: '<[hidden]>: User [hidden] unknown' },
    ],
    reason: null,
    timeline: [
      { at: startOfTime, event: 'accepted' },
      { at: startOfTime, event: 'routed' },
      { at: startOfTime, event: 'queued' },
      { at: startOfTime + 500, event: 'attempt' },
      { at: startOfTime + 2000, event: 'retry_scheduled' },
      { at: startOfTime + 2000, event: 'partly_sent' },
    ],
  })
})

test('redactTrace(): hides all other fields of trace and attempts', (t) => {
  for (const outcome of ['relayed', 'captured.sandbox_destination', 'captured.no_route', 'captured.anonymous_project'] as const) {
    const shown = JSON.stringify(redactTrace({ ...trace, outcome }, [attempt, { ...attempt, number: 2, state: 'unknown' }], []))
    t.false(/secret/i.test(shown), shown)
    for (const value of ['192.0.2.77', '2525', '4711', sha256, 'TLSv1.3', 'zoë', 'anna', 'shop', 'bounce', '1500'])
      t.false(shown.includes(value), value)
  }
})

test('redactTrace(): shows distinct replies about visible recipients, and quotes of bounces', (t) => {
  const [anna, zoe] = trace.recipients
  if (!anna || !zoe) throw new Error('no recipient')
  const blind: Trace = { ...trace, recipients: [anna, { ...zoe, bcc: true }] }
  const texts = (...given: Parameters<typeof redactTrace>): unknown[] =>
    redactTrace(...given).replies.map(({ attempt: n, code, enhanced, text }) => [n, code, enhanced, text])
  t.deepEqual(texts(blind, [attempt, { ...attempt, number: 2 }], []), [
    [1, 250, null, 'queued as 4bXyZ91Qwz'],
    [2, 250, null, 'queued as 4bXyZ91Qwz'],
  ])
  const replies = Array.from({ length: 30 }, (_, i) => ({ ...attempt, number: i + 1, endedAt: startOfTime + i }))
  t.is(redactTrace(blind, replies, []).replies.length, 20)
  t.is(redactTrace(blind, replies, []).replies.at(-1)?.attempt, 30)
  const report: TraceReport = {
    ...{ id: 'r', traceId: trace.id, projectId: 'prj_1', type: 'bounced', at: startOfTime + 9000, occurredAt: null },
    ...{ recipient: anna.address, finalRecipient: null, format: 'dsn', sourceId: null, proof: 'return_path', isUnverified: false },
    ...{ bounce: 'soft', category: 'mailbox_full', reason: '', action: 'failed', status: '5.2.2', smtpCode: null },
    ...{ remoteMta: null, reportingMta: null, feedbackType: null, suppression: null, rawBytes: 0 },
    diagnostic: 'smtp; 552 5.2.2 <anna@recipient.example>: Mailbox full',
  }
  const bounced: Trace = { ...blind, status: 'bounced', recipients: [{ ...anna, status: 'bounced' }] }
  t.deepEqual(texts(bounced, [], [report]), [[null, 552, '5.2.2', '<[hidden]>: Mailbox full']])
  t.is(redactTrace(bounced, [], [report]).reason, 'mailbox_full')
  for (const hidden of [{ isUnverified: true }, { recipient: zoe.address }, { type: 'complained' }] as const)
    t.deepEqual(texts(blind, [], [{ ...report, ...hidden }]), [])
})

test('maskAddress(): leaves the domain', (t) => {
  t.is(maskAddress('anna@shop.example'), '***@shop.example')
  t.is(maskAddress('"a@b"@b.ch'), '***@b.ch')
})

const details = (changes: Partial<Trace>, ...attempts: AttemptRecord[]): string[] =>
  timelineOf({ ...trace, ...changes }, attempts).map(({ event, message }) => `${event}: ${message}`)

test('timelineOf(): describes a capture', (t) => {
  const captured = { outcome: 'captured.no_route', status: 'captured', outcomeReason: 'No destination matches.', door: 'rest' } as const
  t.deepEqual(details({ ...captured, recipients: [{ address: 'a@b.ch', status: 'captured' }] }), [
    'accepted: Accepted by the REST API: 4711 bytes for 1 recipient.',
    'routed: Rule any (priority 1) selects the destination Topsecret.',
    'captured: No destination matches.',
  ])
})

test('timelineOf(): describes a relay with a retry, in order of time', (t) => {
  const done = trace.recipients.map(({ address }) => ({ address, status: 'sent' }) as const)
  const {
    error: _error,
    nextAttemptAt: _next,
    ...second
  } = { ...attempt, number: 2, startedAt: startOfTime + 60_000, endedAt: startOfTime + 60_100 }
  const first: AttemptRecord = { ...attempt, recipients: done.map(({ address }) => ({ address, verdict: 'transient' })) }
  const relayed = { status: 'sent', recipients: done, updatedAt: startOfTime + 60_100, attempts: 2 } as const
  const last: AttemptRecord = { ...second, recipients: done.map(({ address }) => ({ address, verdict: 'accepted' })), nextAttemptAt: null }
  t.deepEqual(details(relayed, first, last), [
    'accepted: Accepted by SMTP submission: 4711 bytes for 2 recipients.',
    'routed: Rule any (priority 1) selects the destination Topsecret.',
    'queued: The destination Topsecret is live.',
    'attempt: Attempt 1 to host-secret.example:2525 took 1500 ms: message-secret of the error',
    'retry_scheduled: Attempt 2 for 2 recipients is due at 2030-01-15T12:01:00.000Z.',
    'attempt: Attempt 2 to host-secret.example:2525 took 100 ms: 2 accepted.',
    'sent: The provider accepted the message for all recipients.',
  ])
  const times = timelineOf({ ...trace, ...relayed }, [first, last]).map(({ at }) => at)
  t.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
})

test('timelineOf(): describes attempts in flight, unknown attempts, and every end', (t) => {
  const running: AttemptRecord = { number: 1, destinationId: 'd', startedAt: startOfTime, state: 'started', host: 'h', port: 25 }
  t.is(details({ status: 'queued' }, running).at(-1), 'attempt: Attempt 1 to h:25 is in progress.')
  const { error: _none, nextAttemptAt: _later, ...bare } = attempt
  t.is(
    details({ status: 'queued' }, { ...bare, state: 'unknown', recipients: [{ address: 'x', verdict: 'unknown' }] }).at(-1),
    'attempt: Attempt 1 to host-secret.example:2525 took 1500 ms: 1 unknown. The outcome is unknown: the provider may have accepted the message.',
  )
  const failed = trace.recipients.map((one) => ({ ...one, status: 'failed' }) as const)
  t.is(details({ recipients: failed }).at(-1), 'failed: Delivery was abandoned for all recipients.')
  const canceled = { status: 'canceled', canceled: { at: startOfTime, by: 'key_1' } } as const
  t.is(details(canceled).at(-1), 'canceled: Canceled by key_1 before it was sent.')
})

test('timelineOf(): gives attempt details under wire names', (t) => {
  const [, , , entry] = timelineOf(trace, [attempt])
  t.deepEqual(entry?.detail, {
    attempt: 1,
    state: 'finished',
    destination_id: 'dst_secret',
    host: 'host-secret.example',
    port: 2525,
    address: '192.0.2.77',
    tls: { version: 'TLSv1.3', cipher: 'cipher-secret', verified: true },
    connection_reused: false,
    error: attempt.error,
    milliseconds: { total: 1500 },
    recipients: [
      { address: 'anna@recipient.example', verdict: 'permanent', reply: { code: 250, text: 'queued as 4bXyZ91Qwz' } },
      {
        address: 'zoë@other.example',
        verdict: 'permanent',
        reply: { code: 550, enhanced: '5.1.1', text: '<zoë@other.example>: User zoë unknown' },
      },
    ],
  })
})
