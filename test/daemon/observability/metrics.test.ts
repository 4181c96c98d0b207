/** Values of a scrape after events. */
import test from '#test'
import { Metrics } from '../../../daemon/observability/metrics.ts'

test('Metrics counts events by their labels', async (t) => {
  const metrics = new Metrics()
  metrics.messageAccepted('rest', 'relayed')
  metrics.messageAccepted('rest', 'relayed')
  metrics.messageAccepted('smtp', 'captured.no_route')
  metrics.refused('smtp', 'quota_exhausted')
  metrics.recipientAttempted('accepted')
  metrics.breakerChanged('open')
  metrics.smtpSessionOpened('submission')
  metrics.smtpSessionOpened('submission')
  metrics.smtpSessionClosed('submission')
  metrics.requestAnswered('getTrace', 404, 0.02)
  metrics.webhookAttempted('parked')
  metrics.bounced('hard')
  metrics.complained()
  metrics.suppressed('bounce', 1)
  metrics.build('1.2.3')
  metrics.groupCommitted({ writes: 5, rows: 30, bytes: 4000 })
  metrics.acknowledged('smtp', 0.004)
  const { contentType } = metrics
  const body = await metrics.render()
  t.regex(contentType, /^text\/plain/)
  for (const line of [
    'postern_messages_accepted_total{door="rest",outcome="relayed"} 2',
    'postern_messages_accepted_total{door="smtp",outcome="captured.no_route"} 1',
    'postern_refusals_total{door="smtp",code="quota_exhausted"} 1',
    'postern_delivery_attempts_total{verdict="accepted"} 1',
    'postern_breaker_changes_total{state="open"} 1',
    'postern_smtp_sessions_total{listener="submission"} 2',
    'postern_smtp_sessions_open{listener="submission"} 1',
    'postern_http_requests_total{route="getTrace",status="404"} 1',
    'postern_http_request_seconds_bucket{le="0.005",route="getTrace"} 0',
    'postern_http_request_seconds_bucket{le="0.025",route="getTrace"} 1',
    'postern_bounces_total{class="hard"} 1',
    'postern_complaints_total 1',
    'postern_suppressions_added_total{source="bounce"} 1',
    'postern_webhook_attempts_total{result="parked"} 1',
    `postern_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
    'postern_commit_group_writes_bucket{le="4"} 0',
    'postern_commit_group_writes_bucket{le="8"} 1',
    'postern_commit_group_writes_sum 5',
    'postern_store_rows_written_total 30',
    'postern_store_written_bytes_total 4000',
    'postern_acknowledgement_seconds_bucket{le="0.0025",door="smtp"} 0',
    'postern_acknowledgement_seconds_bucket{le="0.005",door="smtp"} 1',
  ]) {
    t.true(body.split('\n').includes(line), line)
  }
  t.regex(body, /^process_resident_memory_bytes \d+$/m)
})

test('watch() reads its value at each scrape', async (t) => {
  const metrics = new Metrics()
  let length = 1
  metrics.watch('queue_length', 'Messages that wait for delivery.', () => length)
  t.regex(await metrics.render(), /^postern_queue_length 1$/m)
  length = 7
  t.regex(await metrics.render(), /^postern_queue_length 7$/m)
})

test('Metrics of two daemons in one process stay apart', async (t) => {
  const [one, other] = [new Metrics(), new Metrics()]
  one.recipientAttempted('transient')
  t.regex(await one.render(), /^postern_delivery_attempts_total\{verdict="transient"\} 1$/m)
  t.regex(await other.render(), /^postern_delivery_attempts_total\{verdict="transient"\} 0$/m)
})
