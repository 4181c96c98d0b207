/** Inbound routes: whose mail at the inbound domain goes to which webhook, and the mail that came. Spec "Inbound routes". */
import * as z from 'zod'
import type { InboundFile } from '#core/inbound-routes/inbound-mail.ts'
import { media, noBody, raw, type Answer } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  inboundMessageShape,
  inboundMessageSummaryShape,
  inboundRouteChangesBody,
  inboundRouteShape,
  mintedInboundRouteShape,
  newInboundRouteBody,
  toWireInboundMessage,
  toWireInboundRoute,
  toWireInboundSummary,
  toWireMintedInboundRoute,
} from '../wire/inbound-route.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'
import { attachmentHeaders, servedType } from './download.ts'
import { unlisted } from './unlisted.ts'

const tags = ['inbound routes']
const messageParams = z.strictObject({ id, message_id: id })
const index = z
  .string()
  .regex(/^\d{1,4}$/, 'must be the place of the attachment in the message, from 0')
  .transform(Number)

export const inboundRouteOperations = (core: RestCore): readonly Operation[] => [
  ...reading(core),
  ...minting(core),
  ...changing(core),
  ...messages(core),
  ...downloads(core),
  link(core),
]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inbound-routes',
    operationId: 'listInboundRoutes',
    summary: 'List inbound routes, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(inboundRouteShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.inboundRoutes.list(scope, { limit, cursor, projectId: project })
      const data = page.rows.map((route) => toWireInboundRoute(route, core.inboundRoutes.addressOf(route)))
      return { data, next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inbound-routes/{id}',
    operationId: 'readInboundRoute',
    summary: 'Read an inbound route',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: inboundRouteShape,
    async handle({ scope, params }) {
      const route = await core.inboundRoutes.get(scope, params.id)
      return toWireInboundRoute(route, core.inboundRoutes.addressOf(route))
    },
  }),
]

const minting = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/inbound-routes',
    operationId: 'createInboundRoute',
    summary: 'Make an inbound route',
    description:
      'Mail for the local part is taken from now on and delivered to the webhook, with the signatures and the schedule of event webhooks. ' +
      'The inbound domain is shared by all users of the service: the first to ask has a name, with everything behind its `+`. The secret is in this answer only.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    body: newInboundRouteBody,
    response: mintedInboundRouteShape,
    examples: { body: { local_part_pattern: 'tickets+*', webhook_url: 'https://shop.example.ch/incoming-mail' } },
    async handle({ scope, body }) {
      const request = { localPartPattern: body.local_part_pattern, webhookUrl: body.webhook_url, projectId: body.project_id }
      const minted = await core.inboundRoutes.create(scope, request)
      return toWireMintedInboundRoute(minted, core.inboundRoutes.addressOf(minted.route))
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/inbound-routes/{id}/rotate-secret',
    operationId: 'rotateInboundRouteSecret',
    summary: 'Replace the secret of an inbound route',
    description: 'Every attempt from now on is signed with the new one, which is in this answer only; the old one verifies nothing more.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: mintedInboundRouteShape,
    async handle({ scope, params }) {
      const minted = await core.inboundRoutes.rotate(scope, params.id)
      return toWireMintedInboundRoute(minted, core.inboundRoutes.addressOf(minted.route))
    },
  }),
]

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/inbound-routes/{id}',
    operationId: 'updateInboundRoute',
    summary: 'Change an inbound route',
    description:
      'Only the fields that are given change. With project_id it moves to another project; mail that came before stays in its own. Another pattern is another route.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: inboundRouteChangesBody,
    response: inboundRouteShape,
    async handle({ scope, params, body }) {
      const changes = { webhookUrl: body.webhook_url, projectId: body.project_id }
      const route = await core.inboundRoutes.update(scope, params.id, changes)
      return toWireInboundRoute(route, core.inboundRoutes.addressOf(route))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/inbound-routes/{id}',
    operationId: 'deleteInboundRoute',
    summary: 'Delete an inbound route with its mail; twice is the same as once',
    description: 'Mail for it is refused from now on, and what is on its way to the webhook goes no further.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.inboundRoutes.remove(scope, params.id),
  }),
]

const messages = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inbound-routes/{id}/messages',
    operationId: 'listInboundMessages',
    summary: 'List the mail that came by an inbound route, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(inboundMessageSummaryShape),
    async handle({ scope, params, query }) {
      const page = await core.inboundMail.list(scope, params.id, query)
      return { data: page.rows.map(toWireInboundSummary), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/inbound-routes/{id}/messages/{message_id}',
    operationId: 'readInboundMessage',
    summary: 'Read a mail that came by an inbound route',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams,
    response: inboundMessageShape,
    async handle({ scope, params }) {
      const url = `${core.baseUrl}/v1/inbound-routes/${params.id}/messages/${params.message_id}`
      return toWireInboundMessage(await core.inboundMail.get(scope, params.id, params.message_id), url)
    },
  }),
]

const downloads = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/inbound-routes/{id}/messages/{message_id}/raw',
    operationId: 'readRawInboundMessage',
    summary: 'Download a mail as it came',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams,
    response: media('message/rfc822'),
    handle: async ({ scope, params }) => download(await core.inboundMail.raw(scope, params.id, params.message_id)),
  }),
  operation({
    method: 'GET',
    path: '/v1/inbound-routes/{id}/messages/{message_id}/attachments/{index}',
    operationId: 'readInboundAttachment',
    summary: 'Download an attachment of a mail that came in',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: messageParams.extend({ index }),
    response: media('application/octet-stream'),
    async handle({ scope, params }) {
      return download(await core.inboundMail.attachment(scope, params.id, params.message_id, params.index))
    },
  }),
]

const link = (core: RestCore): Operation =>
  operation({
    method: 'GET',
    path: '/share/inbound/{token}',
    operationId: 'followInboundLink',
    summary: 'Download what a link in the webhook of an inbound route leads to',
    description: 'A mail as it came, or one of its attachments. Whoever has the link can follow it until it ends, after three days.',
    tags,
    right: 'none',
    errors: ['not_found', 'feature_disabled'],
    params: z.strictObject({ token: z.string() }),
    response: media('application/octet-stream'),
    handle: async ({ params: { token } }) => download(await core.inboundMail.linked(token), unlisted),
  })

function download({ bytes, messageId, attachment }: InboundFile, headers: Readonly<Record<string, string>> = {}): Answer {
  if (!attachment) return raw(bytes, { contentType: 'message/rfc822', headers: { ...headers, ...attachmentHeaders(`${messageId}.eml`) } })
  const { index: place, known } = attachment
  const filename = known?.filename ?? `attachment-${place + 1}`
  return raw(bytes, { contentType: servedType(known?.contentType ?? ''), headers: { ...headers, ...attachmentHeaders(filename) } })
}
