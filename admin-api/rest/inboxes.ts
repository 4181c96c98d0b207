/** Virtual inboxes, their captured messages, and the long poll. Spec "Virtual inboxes". */
import * as z from 'zod'
import { media, raw } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { inboxShape, messageShape, messageSummaryShape, since, toWireInbox, toWireMessage, toWireMessageSummary } from '../wire/inbox.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams, moveBody } from '../wire/text.ts'
import { attachmentHeaders, servedType } from './download.ts'
import { projectFilter, type RestCore } from './core.ts'

const tags = ['inboxes']
const messageParams = z.strictObject({ id, message_id: id })
const waitSecondsUnlessTold = 30
const waitSecondsMax = 120

/** Whole seconds. Spec "Limits" 13. */
const timeout = z
  .string()
  .regex(/^\d{1,3}$/, `must be a whole number of seconds, at most ${waitSecondsMax}`)
  .transform(Number)
  .pipe(z.number().max(waitSecondsMax))
  .default(waitSecondsUnlessTold)
  .meta({ description: `Seconds to wait: 0 to ${waitSecondsMax}, ${waitSecondsUnlessTold} unless told.` })

export const inboxOperations = (core: RestCore): readonly Operation[] => [
  ...inboxes(core),
  ...messages(core),
  ...downloads(core),
  wait(core),
]

const inboxes = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inboxes',
    operationId: 'listInboxes',
    summary: 'List virtual inboxes, the newest first, or with `since` in order of arrival',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(inboxShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const projectId = await projectFilter(core, scope, project)
      const page = await core.inboxes.list(scope, { limit, cursor, projectId })
      return { data: page.rows.map(({ record }) => toWireInbox(record)), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}',
    operationId: 'readInbox',
    summary: 'Read a virtual inbox',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: inboxShape,
    handle: async ({ scope, params }) => toWireInbox(await core.inboxes.get(scope, params.id)),
  }),
  operation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}',
    operationId: 'moveInbox',
    summary: 'Move a virtual inbox to another project',
    description: 'It then shows the captured messages of that project. Refused with conflict when its pattern is taken there.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: moveBody,
    response: inboxShape,
    async handle({ scope, params, body }) {
      await core.move(scope, { type: 'virtual_inbox', id: params.id, projectId: body.project_id })
      return toWireInbox(await core.inboxes.get(scope, params.id))
    },
  }),
]

const messages = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}/messages',
    operationId: 'listInboxMessages',
    summary: 'List captured messages, the newest first, or with `since` in order of arrival',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor, since: since.optional() }),
    response: pageOf(messageSummaryShape),
    async handle({ scope, params, query }) {
      const page = await core.inboxes.messages(scope, params.id, query)
      return { data: page.rows.map(toWireMessageSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{message_id}',
    operationId: 'readInboxMessage',
    summary: 'Read a captured message',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams,
    response: messageShape,
    async handle({ scope, params }) {
      return toWireMessage(await core.inboxes.message(scope, params.id, params.message_id), urlOf(core, params.id, params.message_id))
    },
  }),
]

const downloads = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{message_id}/raw',
    operationId: 'readRawInboxMessage',
    summary: 'Download a captured message as it would have been sent',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams,
    response: media('message/rfc822'),
    async handle({ scope, params }) {
      const bytes = await core.inboxes.raw(scope, params.id, params.message_id)
      return raw(bytes, { contentType: 'message/rfc822', headers: attachmentHeaders(`${params.message_id}.eml`) })
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}/messages/{message_id}/attachments/{index}',
    operationId: 'readInboxAttachment',
    summary: 'Download an attachment of a captured message',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams.extend({
      index: z
        .string()
        .regex(/^\d{1,4}$/, 'must be the place of the attachment in the message, from 0')
        .transform(Number),
    }),
    response: media('application/octet-stream'),
    async handle({ scope, params }) {
      const bytes = await core.inboxes.attachment(scope, params.id, params.message_id, params.index)
      const { read } = await core.inboxes.message(scope, params.id, params.message_id)
      const known = read.ok ? read.message.attachments[params.index] : undefined
      return raw(bytes, {
        contentType: servedType(known?.contentType ?? ''),
        headers: attachmentHeaders(known?.filename ?? `attachment-${params.index + 1}`),
      })
    },
  }),
]

const wait = (core: RestCore): Operation =>
  operation({
    method: 'POST',
    path: '/v1/inboxes/{id}/wait',
    operationId: 'waitForInboxMessage',
    summary: 'Wait for a captured message',
    description: 'Answers the first message after `since` (without it: from now on), or `{"timeout": true}`.',
    tags,
    right: 'api:read',
    waits: true,
    errors: ['not_found', 'rate_limit_exceeded'],
    params: idParams,
    query: z.strictObject({ since: since.optional(), timeout }),
    response: z.union([z.object({ timeout: z.literal(true) }), messageShape]),
    async handle({ scope, params, query, signal }) {
      const found = await core.inboxes.wait(scope, params.id, { since: query.since, timeoutMs: query.timeout * 1000, signal })
      if (found) return toWireMessage(found, urlOf(core, params.id, found.capture.id))
      signal.throwIfAborted()
      return { timeout: true as const }
    },
  })

const urlOf = ({ baseUrl }: RestCore, inboxId: string, messageId: string): string =>
  `${baseUrl}/v1/inboxes/${inboxId}/messages/${messageId}`
