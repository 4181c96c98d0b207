/** Traces: list, read, and the public redacted view. Spec "Traces, inspect, suppressions". */
import * as z from 'zod'
import type { TraceFilter } from '#core/trace/read.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { answer, media, raw } from '../answer.ts'
import { negotiatedRefusal, prefersPage, varies } from '../negotiation.ts'
import { operation, type Operation } from '../operation.ts'
import { strangerRefusalPage } from '../pages/refusal-page.ts'
import { sharedTracePage } from '../pages/shared-trace.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, line } from '../wire/text.ts'
import { timeInput } from '../wire/time.ts'
import {
  bounceClasses,
  sentStatusShape,
  traceOutcomes,
  sharedTraceShape,
  toWireSentStatus,
  toWireSharedTrace,
  toWireTrace,
  toWireTraceSummary,
  traceShape,
  traceSummaryShape,
} from '../wire/trace.ts'
import { projectFilter, type RestCore } from './core.ts'
import { attachmentHeaders } from './download.ts'
import { unlisted } from './unlisted.ts'

const tags = ['traces']
/** A UUID, in any case (RFC 9562 §4). */
const params = z.strictObject({ trace_id: z.string().min(1).max(64).toLowerCase() })

const filters = z.strictObject({
  ...pagingFields,
  status: z.enum(traceStatuses).optional(),
  outcome: z.enum(traceOutcomes).optional(),
  to: line(320, 'Exactly this recipient.').optional(),
  from: line(320, 'Exactly this From or MAIL FROM.').optional(),
  destination_id: id.optional(),
  bounce: z
    .enum(bounceClasses)
    .optional()
    .meta({
      description:
        'A recipient bounced like this: told after the message had left, or refused by the server that it was handed to, for good or until ' +
        'it was given up (`status` is `failed` then). With `to`, this recipient.',
    }),
  q: line(200, 'Part of the subject, of an address of sender or recipients, or of the Message-ID; in any case.').optional(),
  since: timeInput.optional().meta({ description: 'Accepted at this time or later.' }),
  until: timeInput.optional().meta({ description: 'Accepted before this time.' }),
  created_after: timeInput.optional().meta({ description: 'The same as `since`, by the name that other lists have for it.' }),
  created_before: timeInput.optional().meta({ description: 'The same as `until`.' }),
  recipient: line(320, 'The same as `to`.').optional(),
  sender: line(320, 'The same as `from`.').optional(),
  project_id: id.optional().meta({ description: 'The same as `project`.' }),
})

/** The names of other lists stand for ours. */
function filterOf(query: z.output<typeof filters>): TraceFilter {
  const { destination_id: destinationId, status, outcome, bounce, q } = query
  return {
    ...{ destinationId, status, outcome, bounce, q },
    to: query.to ?? query.recipient,
    from: query.from ?? query.sender,
    since: query.since ?? query.created_after,
    until: query.until ?? query.created_before,
  }
}

export const traceOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...retrying(core), ...sharing(core)]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/traces',
    operationId: 'listTraces',
    summary: 'List traces, the newest first',
    description: 'A page can hold fewer entries than asked for, even none, and still have a next one.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: filters,
    response: pageOf(traceSummaryShape),
    async handle({ scope, query }) {
      const projectId = await projectFilter(core, scope, query.project ?? query.project_id)
      const page = await core.traces.list(scope, { ...filterOf(query), projectId }, query.limit, query.cursor)
      return { data: page.rows.map(toWireTraceSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/traces/{trace_id}',
    operationId: 'readTrace',
    summary: 'Read a trace with its timeline',
    description:
      'In place of the id goes the X-Service-Ref of the relayed message, as it stands in returned mail. ' +
      'A send-only key gets the status of what it sent itself, and nothing else: no other trace, no address and no timeline.',
    tags,
    right: 'api:read',
    openToSendOnlyKeys: true,
    errors: ['not_found'],
    params,
    response: z.union([traceShape, sentStatusShape]),
    async handle({ scope, params: { trace_id } }) {
      if (scope.sendsOnly) return toWireSentStatus(await core.traces.sentBy(scope, trace_id))
      const story = await core.traces.get(scope, trace_id)
      return toWireTrace(story, await core.probes.waiting(scope.organizationId, story.trace))
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/traces/{trace_id}/reports/{report_id}',
    operationId: 'readReportMail',
    summary: 'Download the mail that a report came as',
    description: 'Its first 64 KiB. The report_id stands in the timeline of the trace.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: params.extend({ report_id: id }),
    response: media('message/rfc822'),
    async handle({ scope, params: { trace_id, report_id } }) {
      const mail = await core.traces.reportMail(scope, trace_id, report_id)
      return raw(mail, { contentType: 'message/rfc822', headers: attachmentHeaders(`report-${trace_id}.eml`) })
    },
  }),
]

const retryBody = z
  .strictObject({
    include_unknown: z
      .boolean()
      .default(false)
      .meta({ description: 'Also recipients whose last attempt ended without an answer, at the risk of a second copy.' }),
  })
  .default({ include_unknown: false })

const retrying = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/traces/{trace_id}/retry',
    operationId: 'retryTrace',
    summary: 'Send a message again that failed or waits for its next attempt',
    description:
      'A trace that is `failed` is `queued` again for those of its recipients whom no provider has accepted, and counts as a send; one that waits ' +
      'for its next attempt has it now. Its schedule of retries begins anew. It goes to the destination that it was routed to. 409 tells why ' +
      'nothing can be retried, and what to do. To send many again, or to another destination, use POST /v1/replays.',
    tags,
    right: 'api:send',
    errors: ['not_found', 'conflict', 'quota_exceeded', 'quota_exhausted', 'project_budget_exhausted'],
    params,
    body: retryBody,
    response: traceShape,
    async handle({ scope, params: { trace_id }, body }) {
      const { id: traceId } = await core.retries.retry(scope, trace_id, { includeUnknown: body.include_unknown })
      const story = await core.traces.get(scope, traceId)
      return toWireTrace(story, await core.probes.waiting(scope.organizationId, story.trace))
    },
  }),
]

const sharing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/share/traces/{trace_id}',
    operationId: 'readSharedTrace',
    summary: 'Read the redacted view of a trace, without a key',
    description: 'Browsers, which prefer text/html in Accept, get it as a page.',
    tags,
    right: 'none',
    errors: ['not_found'],
    params,
    response: sharedTraceShape,
    alsoAsPage: true,
    errorRenderer: negotiatedRefusal(strangerRefusalPage),
    async handle({ params: { trace_id }, headers }) {
      const trace = await core.traces.shared(trace_id)
      return prefersPage(headers) ? sharedTracePage(trace) : answer(toWireSharedTrace(trace), { headers: { ...unlisted, ...varies } })
    },
  }),
]
