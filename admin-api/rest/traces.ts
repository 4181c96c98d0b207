/** Traces: list, read, and the public redacted view. Spec "Traces, inspect, suppressions". */
import * as z from 'zod'
import { traceStatuses } from '#core/trace/states.ts'
import { answer, media, raw } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, line } from '../wire/text.ts'
import { timeInput } from '../wire/time.ts'
import {
  outcomes,
  sharedTraceShape,
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
  outcome: z.enum(outcomes).optional(),
  to: line(320, 'Exactly this recipient.').optional(),
  from: line(320, 'Exactly this From or MAIL FROM.').optional(),
  destination_id: id.optional(),
  since: timeInput.optional().meta({ description: 'Accepted at this time or later.' }),
  until: timeInput.optional().meta({ description: 'Accepted before this time.' }),
})

export const traceOperations = (core: RestCore): readonly Operation[] => [
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
    async handle({ scope, query: { limit, cursor, project, destination_id, ...filter } }) {
      const projectId = await projectFilter(core, scope, project)
      const page = await core.traces.list(scope, { ...filter, projectId, destinationId: destination_id }, limit, cursor)
      return { data: page.rows.map(toWireTraceSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/traces/{trace_id}',
    operationId: 'readTrace',
    summary: 'Read a trace with its timeline',
    description: 'In place of the id goes the X-Service-Ref of the relayed message, as it stands in returned mail.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params,
    response: traceShape,
    async handle({ scope, params: { trace_id } }) {
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
  operation({
    method: 'GET',
    path: '/share/traces/{trace_id}',
    operationId: 'readSharedTrace',
    summary: 'Read the redacted view of a trace, without a key',
    tags,
    right: 'none',
    errors: ['not_found'],
    params,
    response: sharedTraceShape,
    async handle({ params: { trace_id } }) {
      return answer(toWireSharedTrace(await core.traces.shared(trace_id)), { headers: unlisted })
    },
  }),
]
