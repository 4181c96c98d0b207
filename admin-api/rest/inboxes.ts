/** Virtual inboxes, their captured messages, and the long poll. Spec "Virtual inboxes". */
import { Readable } from 'node:stream'
import * as z from 'zod'
import type { Scope } from '#core/access/scope.ts'
import type { Inbox } from '#core/capture/capture.ts'
import type { CapturedMessage } from '#core/capture/inboxes.ts'
import { media, noBody, raw, type Answer } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  inboxChangesBody,
  inboxDetailShape,
  inboxShape,
  messageShape,
  messageSummaryShape,
  newInboxBody,
  since,
  toInboxChanges,
  toWireInbox,
  toWireInboxDetail,
  toWireMessage,
  toWireMessageSummary,
} from '../wire/inbox.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
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
  ...changing(core),
  ...ending(core),
  ...messages(core),
  ...downloads(core),
  wait(core),
]

const inboxes = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inboxes',
    operationId: 'listInboxes',
    summary: 'List virtual inboxes, the newest first',
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
    path: '/v1/inboxes/lookup',
    operationId: 'lookUpInbox',
    summary: 'Find a virtual inbox by its pattern',
    description: 'Letters of case make no difference. A pattern that no inbox has is a normal result: `{"found": false}`.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({ address: z.string().min(1).max(320), project: pagingFields.project }),
    response: z.object({ found: z.boolean(), inbox: inboxDetailShape.optional() }),
    async handle({ scope, query }) {
      const projectId = await projectFilter(core, scope, query.project)
      const found = await core.inboxes.lookup(scope, query.address, projectId)
      return found ? { found: true, inbox: await detail(core, scope, found) } : { found: false }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inboxes/{id}',
    operationId: 'readInbox',
    summary: 'Read a virtual inbox, with the key that signs its notifications and what came of the latest one',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: inboxDetailShape,
    handle: async ({ scope, params }) => detail(core, scope, await core.inboxes.get(scope, params.id)),
  }),
]

const detail = async (core: RestCore, scope: Scope, inbox: Inbox) =>
  toWireInboxDetail(inbox, core.inboxNotifier.secretFor(scope, inbox.id), await core.inboxes.lastNotify(scope, inbox))

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/inboxes',
    operationId: 'createInbox',
    summary: 'Make a virtual inbox',
    description:
      'It shows every captured message of its project in which an address of the pattern was seen or meant, also those from before. ' +
      'With notify_webhook_url each further one is told by a POST signed like those of Stripe.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    query: z.strictObject({ project: pagingFields.project }),
    body: newInboxBody,
    response: inboxDetailShape,
    examples: { body: { address_pattern: '@staging.example.ch', name: 'Staging' } },
    async handle({ scope, query, body }) {
      const projectId = body.project_id ?? query.project
      const inbox = await core.inboxSettings.create(scope, {
        ...toInboxChanges({ ...body, project_id: projectId }),
        addressPattern: body.address_pattern,
      })
      return detail(core, scope, inbox)
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}',
    operationId: 'updateInbox',
    summary: 'Change a virtual inbox, or move it to another project',
    description:
      'Only the fields that are given change; null takes one away. Moved, it shows the captured messages of that project; ' +
      'refused with conflict when its pattern is taken there. The pattern stays: make another inbox for another one.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: inboxChangesBody,
    response: inboxDetailShape,
    handle: async ({ scope, params, body }) => detail(core, scope, await core.inboxSettings.update(scope, params.id, toInboxChanges(body))),
  }),
]

const ending = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}',
    operationId: 'deleteInbox',
    summary: 'Delete a virtual inbox; its captured messages remain. Twice is the same as once',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.inboxSettings.remove(scope, params.id),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/messages',
    operationId: 'clearInbox',
    summary: 'Clear a virtual inbox: not implemented, and nothing is cleared',
    description: 'Captured messages belong to traces and go with them. Give the inbox retention_days to have less of them.',
    tags,
    right: 'api:admin',
    errors: ['not_found'],
    params: idParams,
    response: z.object({ status: z.literal('unimplemented'), cleared: z.literal(0) }),
    async handle({ scope, params }) {
      await core.inboxes.get(scope, params.id)
      return { status: 'unimplemented' as const, cleared: 0 as const }
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
    description:
      'The id can be a pattern too; one that no inbox has is a normal result: `found` is false and the list empty. ' +
      'With `address` only messages in which that address was seen or meant, whoever the recipients are. A page can be short and still have a next one.',
    errors: ['not_found'],
    params: z.strictObject({ id: z.string().min(1).max(320) }),
    query: z.strictObject({
      limit: pagingFields.limit,
      cursor: pagingFields.cursor,
      since: since.optional(),
      address: z.string().min(1).max(320).optional().meta({ description: 'One address, or a domain as @example.ch.' }),
    }),
    response: pageOf(messageSummaryShape).extend({ found: z.boolean() }),
    async handle({ scope, params, query }) {
      const inbox = await core.inboxes.named(scope, params.id)
      if (!inbox) return { found: false, data: [], next_cursor: null }
      const page = await core.inboxes.messages(scope, inbox.id, query)
      return { found: true, data: page.rows.map(toWireMessageSummary), next_cursor: page.nextCursor ?? null }
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
      return wireMessage(core, scope, params.id, await core.inboxes.message(scope, params.id, params.message_id))
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
      const { size, pieces } = await core.inboxes.raw(scope, params.id, params.message_id)
      return raw(Readable.from(pieces, { objectMode: false }), {
        contentType: 'message/rfc822',
        headers: { 'content-length': String(size), ...attachmentHeaders(`${params.message_id}.eml`) },
      })
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

function wait(core: RestCore): Operation {
  const rendered = new WeakMap<CapturedMessage, Uint8Array>()
  /** A message that many wait for is written out once. */
  const told = (scope: Scope, inboxId: string, message: CapturedMessage): Answer => {
    const body = rendered.get(message) ?? Buffer.from(JSON.stringify(wireMessage(core, scope, inboxId, message)))
    rendered.set(message, body)
    return raw(body, { contentType: 'application/json' })
  }
  return operation({
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
      if (found) return told(scope, params.id, found)
      signal.throwIfAborted()
      return { timeout: true as const }
    },
  })
}

const wireMessage = ({ baseUrl, messageViews }: RestCore, { organizationId }: Scope, inboxId: string, message: CapturedMessage) => {
  const captureId = message.capture.id
  const viewUrl = messageViews.urlOf({ organizationId, inboxId, captureId })
  return toWireMessage(message, `${baseUrl}/v1/inboxes/${inboxId}/messages/${captureId}`, viewUrl)
}
