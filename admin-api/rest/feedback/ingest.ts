/** Posted reports of servers: webhooks and logs of mail servers, and report mails of any program. */
import * as z from 'zod'
import { classify } from '#core/feedback/apply/classify.ts'
import { addCounts, noCounts, takeInSlices, withDomains } from '#core/feedback/intake/log-intake.ts'
import type { FeedbackOutcome } from '#core/feedback/feedback-origin.ts'
import { invalid } from '#core/refusals.ts'
import { logSources, readLog } from '#ingest/logs/log.ts'
import { readStalwartWebhook } from '#ingest/logs/stalwart/stalwart.ts'
import { asSent } from '../../bodies/body-stream.ts'
import { operation, type Operation, type OperationFacts } from '../../operation/operation.ts'
import { beginningOf, inflated, linesOf, maxSignedBytes, withSignedBody } from '../../bodies/signed-body.ts'
import { eventCounts, reportAnswer, sourceQuery } from '../../wire/feedback/ingest.ts'
import type { RestCore } from '../rest-core.ts'
import { requireProvider } from '../ingest-core.ts'

/** Bytes read of a report mail; the report precedes the returned message. */
const reportReadBytes = maxSignedBytes
/** Limits of a log in one request, after decompression. */
const logBounds = { maxBytes: 64 * 1024 * 1024, maxLines: 500_000 }
const logDeadlineSeconds = 120

/** Common facts of signed operations. A signature over the raw body replaces a key, so they are operations rather than actions. */
export const signedOperation = {
  tags: ['ingest'],
  scope: 'none',
  status: 202,
  errors: ['invalid_signature', 'feature_disabled', 'conflict', 'storage_full'],
  maxBodyBytes: maxSignedBytes,
} as const satisfies Partial<OperationFacts> & { readonly scope: 'none' }

const signatureText =
  'The header `X-Service-Signature: sha256=<hex>` signs the raw body as sent. `source_id` or the header ' +
  '`X-Service-Ingest-Source` identifies the source. Idempotent. Accepts `Content-Encoding: gzip`; the decompressed body may have ' +
  '1 MiB, or 100 times its compressed length if that is more.'

const takeReport: Operation<RestCore> = operation({
  ...signedOperation,
  method: 'POST',
  path: '/v1/ingest/arf',
  operationId: 'ingestReportMail',
  summary: 'Ingest a report as a raw mail',
  description: ({ maxReportBytes }) =>
    'Complaints (RFC 5965), bounces and delays in any known format. Returns the events found. The body is the mail, of at most ' +
    `${maxReportBytes} bytes, the limit of the MX listener (POSTERN_MX_MAX_MESSAGE_BYTES), or 5 MiB if compressed. Only its ` +
    `first 5 MiB are parsed. ${signatureText}`,
  maxBodyBytes: ({ maxReportBytes }) => maxReportBytes,
  query: sourceQuery,
  body: asSent({ 'message/rfc822': z.string() }),
  response: reportAnswer,
  handle: (input) =>
    withSignedBody(
      input.core.ingest.signed,
      input,
      async (body) => {
        const raw = await beginningOf(body, reportReadBytes, input.core.maxReportBytes)
        const { kind, events, problem } = await input.core.ingest.reports.read(raw, body.signed.organizationId)
        const { organizationId, source } = body.signed
        const outcomes = await input.core.ingest.feedback.take({ organizationId, sourceId: source.id, channel: 'signed', raw }, events)
        return { kind, events: outcomes.map(toWireOutcome), ...(problem !== undefined && { problem }) }
      },
      reportReadBytes,
    ),
})

export const ingestOperations: readonly Operation<RestCore>[] = [
  operation({
    ...signedOperation,
    method: 'POST',
    path: '/v1/ingest/stalwart',
    operationId: 'ingestStalwart',
    summary: 'Ingest events from the Stalwart webhook',
    description: `One event, a list of at most 10,000, or \`{"events": […]}\`. ${signatureText} Stalwart’s own \`X-Signature\` is accepted too.`,
    query: sourceQuery,
    body: asSent({ 'application/json': z.unknown() }),
    response: eventCounts,
    handle: (input) =>
      withSignedBody(input.core.ingest.signed, input, async (body) => {
        requireProvider(body.signed, 'stalwart')
        const reading = readStalwartWebhook(await inflated(body))
        if ('problems' in reading) throw invalid(reading.problems)
        const { organizationId, source } = body.signed
        const origin = { organizationId, sourceId: source.id, channel: 'signed' } as const
        const outcomes = await takeInSlices(input.core.ingest.feedback, origin, reading.events.map(withDomains))
        return { ...addCounts(noCounts, outcomes, reading.ignored), ...toWireRejected(reading) }
      }),
  }),
  takeReport,
  operation({
    ...signedOperation,
    method: 'POST',
    path: '/v1/ingest/logs',
    operationId: 'ingestLogs',
    summary: 'Ingest log lines from Stalwart, Postfix or Exim',
    description:
      'One log line per line, plain or in the JSON of a log shipper. Unreadable lines are skipped. A request contains at most 5 ' +
      `MiB as sent, 64 MiB after decompression, and 500,000 lines. ${signatureText}`,
    deadlineSeconds: logDeadlineSeconds,
    query: sourceQuery.extend({ source: z.enum(logSources) }),
    body: asSent({ 'application/x-ndjson': z.string(), 'text/plain': z.string() }),
    response: eventCounts,
    handle: (input) =>
      withSignedBody(input.core.ingest.signed, input, async (body) => {
        requireProvider(body.signed, input.query.source)
        const bytes = await linesOf(body, logBounds)
        const taken = await input.core.ingest.logs.take(body.signed, readLog(input.query.source, bytes))
        const { rejected, rejectedMore, ignoredLines, ...counts } = taken
        const byReason = ignoredLines.map(({ reason, lines }) => ({ reason, lines }))
        return { ...counts, ...(byReason.length > 0 && { ignored_lines: byReason }), ...toWireRejected({ rejected, rejectedMore }) }
      }),
  }),
]

/** `R` identifies the entry by line or by index. */
const toWireRejected = <R>({ rejected, rejectedMore }: { readonly rejected: readonly R[]; readonly rejectedMore: number }) => ({
  rejected: [...rejected],
  ...(rejectedMore > 0 && { rejected_more: rejectedMore }),
})

const toWireOutcome = ({ event, result, traceId, suppressed, isUnverified }: FeedbackOutcome) => ({
  event_id: event.key,
  type: event.type,
  recipient: event.recipient,
  original_recipient: event.originalRecipient,
  status: event.status,
  action: event.action,
  smtp_code: event.smtpCode,
  diagnostic: event.diagnostic,
  remote_mta: event.remoteMta,
  bounce: event.type === 'bounced' ? classify(event).bounce : null,
  feedback_type: event.feedbackType,
  trace_id: traceId,
  verified: traceId === null ? null : !isUnverified,
  suppressed,
  result,
})
