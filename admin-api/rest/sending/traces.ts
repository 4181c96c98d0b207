/** Traces: list, get, and the public redacted view. Spec "Traces, inspect, suppressions". */
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import { traceStatuses } from '#core/trace/states.ts'
import { traceFeatures } from '#core/trace/trace-search.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { answer, media, raw } from '../../operation/answer.ts'
import { negotiatedRefusal, prefersPage, varies } from '../../http/negotiation.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { publicRefusalPage } from '../../pages/layout/refusal-page.ts'
import { sharedTracePage } from '../../pages/messages/shared-trace.ts'
import type { Decoded } from '../../wire/fields/codec.ts'
import { project } from '../../wire/fields/paging.ts'
import { id, line, wordList } from '../../wire/fields/text.ts'
import { timeInput } from '../../wire/fields/time.ts'
import {
  bounceClasses,
  sharedTrace,
  trace,
  traceCounts,
  traceId,
  traceOrStatus,
  traceOutcomes,
  traceSummary,
  type TraceSeen,
} from '../../wire/sending/trace.ts'
import type { RestCore } from '../rest-core.ts'
import { attachmentHeaders } from '../../http/download.ts'
import { unlisted } from './unlisted-headers.ts'

const tags = ['traces']
const traces = resource('/v1/traces', { name: 'Trace', tags, graphql: true, key: 'trace_id', keySchema: traceId })
const params = z.strictObject({ trace_id: traceId })

/** Filters shared with the tools of agents, which are bound to one project. */
export const traceFilter = {
  status: z.enum(traceStatuses).optional(),
  outcome: z.enum(traceOutcomes).optional(),
  to: line(320, 'Exact address of a recipient.').optional(),
  from: line(320, 'Exact address of the From field or MAIL FROM.').optional(),
  destination_id: id.optional(),
  bounce: z
    .enum(bounceClasses)
    .optional()
    .meta({
      description:
        'Bounce class of a recipient: reported after sending, or refused by the receiving server (`status` is then `failed`). ' +
        'With `to`, of this recipient.',
    }),
  template: line(200, 'Id or slug of the template.').optional(),
  tag: line(255, 'A tag. Case-insensitive.').optional(),
  metadata: line(565, 'A field of the metadata as an exact match: `name:value`.').optional(),
  has: wordList(
    traceFeatures,
    'Messages with all of these features. `attachment`: files (by SMTP: Content-Type multipart/mixed or the type of a file). ' +
      '`error`: refused, failed, bounced or deferred. `report`: a report arrived after sending. `retry`: several attempts, or ' +
      'replayed. `tracking`: tracking of opens or clicks was requested. `unsubscribe`: an unsubscribe link.',
  ),
  q: line(200, 'Part of the subject, of an address or of the Message-ID. Case-insensitive.').optional(),
  since: timeInput.optional().meta({ description: 'Accepted at or after this time.' }),
  until: timeInput.optional().meta({ description: 'Accepted before this time.' }),
  created_after: timeInput.optional().meta({ description: 'Alias of `since`.' }),
  created_before: timeInput.optional().meta({ description: 'Alias of `until`.' }),
  recipient: line(320, 'Alias of `to`.').optional(),
  sender: line(320, 'Alias of `from`.').optional(),
}

const filter = { project, ...traceFilter, project_id: id.optional().meta({ description: 'Alias of `project`.' }) }

/** Alternative names of filters, which GraphQL does not have. */
const aliases = ['created_after', 'created_before', 'recipient', 'sender', 'project_id'] as const

type Filter = Decoded<z.ZodObject<typeof traceFilter>>

/** Replaces the aliases by the native names. */
export const byOwnNames = <G extends Filter>({ recipient, sender, createdAfter, createdBefore, ...given }: G) => ({
  ...given,
  to: given.to ?? recipient,
  from: given.from ?? sender,
  since: given.since ?? createdAfter,
  until: given.until ?? createdBefore,
})

/** Fields with text written by senders, recipients, and servers that replied or reported: in lists, and in the full trace. */
export const outsideSummaryFields = [
  ...['subject', 'message_id', 'from', 'mail_from', 'to', 'address'],
  ...['tags', 'metadata', 'outcome_reason', 'reply', 'report', 'suppression'],
]
export const outsideFields = [...outsideSummaryFields, 'timeline']

export const seen = async ({ traces: reader, probes }: RestCore, principal: Principal, idOrToken: string): Promise<TraceSeen> => {
  const details = await reader.get(principal, idOrToken)
  return { details, waiting: await probes.waiting(principal.organizationId, details.trace) }
}

const reading: readonly Action<RestCore>[] = [
  traces.list({
    summary: 'List traces, newest first',
    description: 'A page can contain fewer entries than `limit`, even zero, and still have a next page.',
    graphql: { without: aliases },
    filter,
    item: traceSummary,
    run: ({ core, principal }, asked) => core.traces.list(principal, byOwnNames(asked)),
  }),
  action({
    ...{ id: 'countTraces', tags, scope: 'api:read', errors: ['not_found'] },
    summary: 'Count traces by status',
    description:
      'Takes the filters of the list and scans at most 2,000 traces, newest first. If more traces follow, `complete` is false ' +
      'and the numbers are minimums.',
    input: z.strictObject(filter),
    output: traceCounts,
    http: { method: 'GET', path: '/v1/traces/counts' },
    graphql: { field: 'traceCounts', root: 'query', without: aliases },
    run: ({ core, principal }, { project: named, projectId, ...asked }) =>
      core.traces.counts(principal, { ...byOwnNames(asked), projectId: named ?? projectId }),
  }),
  traces.read({
    summary: 'Get a trace with its timeline',
    description:
      'Also accepts, instead of the id, the X-Service-Ref of the relayed message, as found in returned mail. A send-only key ' +
      'receives only the status of its sends, without addresses and timeline.',
    openToSendOnlyKeys: true,
    output: traceOrStatus,
    run: async ({ core, principal }, { traceId: idOrToken }) =>
      principal.sendsOnly ? { sent: await core.traces.sentBy(principal, idOrToken) } : seen(core, principal, idOrToken),
  }),
]

/** An operation rather than an action, since it is a download. */
const download: Operation<RestCore> = operation({
  method: 'GET',
  path: '/v1/traces/{trace_id}/reports/{report_id}',
  operationId: 'getReportMail',
  summary: 'Download the raw source of a report',
  description: 'Returns the first 64 KiB of the mail. The `report_id` is in the timeline of the trace.',
  tags,
  scope: 'api:read',
  errors: ['not_found'],
  params: params.extend({ report_id: id }),
  response: media('message/rfc822'),
  async handle({ core, principal, params: { trace_id, report_id } }) {
    const mail = await core.traces.reportMail(principal, trace_id, report_id)
    return raw(mail, { contentType: 'message/rfc822', headers: attachmentHeaders(`report-${trace_id}.eml`) })
  },
})

const retryInput = z.strictObject({
  include_unknown: z
    .boolean()
    .default(false)
    .meta({ description: 'Also retries recipients whose last attempt ended without a reply. They may receive a second copy.' }),
})

const retrying: Action<RestCore> = traces.act('retry', {
  summary: 'Retry a message',
  description:
    'A `failed` message is `queued` again for the recipients that no provider has accepted, and counts as a send. A message that ' +
    'waits for its next attempt is attempted now. The retry schedule restarts. The message keeps its destination. 409 states why ' +
    'nothing can be retried, and the next step. To retry many messages, or to send to another destination, use `POST ' +
    '/v1/replays`.',
  scope: 'api:send',
  errors: ['not_found', 'conflict', 'quota_exceeded', 'quota_exhausted', 'project_budget_exhausted'],
  input: retryInput,
  output: trace,
  http: { emptyBody: { include_unknown: false } },
  async run({ core, principal }, { traceId: named, includeUnknown }) {
    const { id: retried } = await core.retries.retry(principal, named, { includeUnknown })
    return seen(core, principal, retried)
  },
})

/** An operation rather than an action, since browsers receive a page. */
const sharing: Operation<RestCore> = operation({
  method: 'GET',
  path: '/share/traces/{trace_id}',
  operationId: 'getSharedTrace',
  summary: 'Get the public, redacted view of a trace',
  description: 'Requires no key. Returns an HTML page if the Accept header prefers text/html.',
  tags,
  scope: 'none',
  errors: ['not_found'],
  params,
  response: sharedTrace.schema,
  alsoAsPage: true,
  errorRenderer: negotiatedRefusal(publicRefusalPage),
  async handle({ core, params: { trace_id }, headers }) {
    const shared = await core.traces.shared(trace_id)
    return prefersPage(headers)
      ? sharedTracePage(shared, headers)
      : answer(sharedTrace.encode(shared), { headers: { ...unlisted, ...varies } })
  },
})

export const traceActions: readonly (Action<RestCore> | Operation<RestCore>)[] = [...reading, download, retrying, sharing]
