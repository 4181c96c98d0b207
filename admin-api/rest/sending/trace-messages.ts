/** The messages of traces, captured and relayed: parsed contents, raw source and attachments. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { TraceMessage } from '#core/capture/reading/trace-messages.ts'
import { ofTrace } from '#core/capture/reading/message-views.ts'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { attachmentFile, attachmentIndex, messageFile } from '../../http/download.ts'
import { media } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { traceId } from '../../wire/sending/trace.ts'
import { traceMessage } from '../../wire/sending/trace-message.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['traces']
const traces = resource('/v1/traces', { name: 'Trace', tags, graphql: true, key: 'trace_id', keySchema: traceId })
const params = z.strictObject({ trace_id: traceId })

/** Adds the URLs of the message and of its page. */
function shown({ baseUrl, messageViews }: RestCore, { organizationId }: Principal, message: TraceMessage) {
  const { id } = message.trace
  const viewUrl = messageViews.urlOf({ organizationId, inboxId: ofTrace, captureId: id })
  return { ...message, url: `${baseUrl}/v1/traces/${id}/message`, viewUrl }
}

/** Operations rather than actions, since their responses are files. */
const downloads: readonly Operation<RestCore>[] = [
  operation({
    method: 'GET',
    path: '/v1/traces/{trace_id}/message/raw',
    operationId: 'getRawTraceMessage',
    summary: 'Download the raw source of the message of a trace',
    tags,
    scope: 'api:read',
    errors: ['not_found'],
    params,
    response: media('message/rfc822'),
    async handle({ core, principal, params: { trace_id: id } }) {
      const { size, pieces } = await core.traceMessages.raw(principal, id)
      return messageFile(Readable.from(pieces, { objectMode: false }), id, { 'content-length': String(size) })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/traces/{trace_id}/message/attachments/{index}',
    operationId: 'getTraceAttachment',
    summary: 'Download an attachment of the message of a trace',
    tags,
    scope: 'api:read',
    errors: ['not_found'],
    params: params.extend({ index: attachmentIndex }),
    response: media('application/octet-stream'),
    async handle({ core, principal, params: { trace_id: id, index } }) {
      const bytes = await core.traceMessages.attachment(principal, id, index)
      const { read } = await core.traceMessages.message(principal, id)
      return attachmentFile(bytes, index, read.ok ? read.message.attachments[index] : undefined)
    },
  }),
]

export const traceMessageOperations: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  traces.readOf('message', {
    summary: 'Get the message of a trace',
    description:
      'Includes relayed messages, as sent, until their traces expire. 404 with `next_action: "read_trace"` states why a trace ' +
      'has no message: the request was refused, or the message expired from its inboxes.',
    output: traceMessage,
    run: async ({ core, principal }, { traceId: id }) => shown(core, principal, await core.traceMessages.message(principal, id)),
  }),
  ...downloads,
]
