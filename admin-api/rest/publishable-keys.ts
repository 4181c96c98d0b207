/** Publishable keys. Spec "Publishable key", "Authentication" 6. */
import * as z from 'zod'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import {
  mintedPublishableKeyShape,
  newPublishableKeyBody,
  publishableKeyShape,
  revokePublishableKeyQuery,
  rotatePublishableKeyBody,
  snippetBody,
  snippetShape,
  toNewPublishableKey,
  toSnippetRequest,
  toWireMinted,
  toWirePublishableKey,
} from '../wire/publishable-key.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['publishable keys']
const path = '/v1/publishable-keys'

export const publishableKeyOperations = (core: RestCore): readonly Operation[] => [
  ...readingOperations(core),
  operation({
    ...{ method: 'POST', path, operationId: 'mintPublishableKey', tags, right: 'api:admin', status: 201 },
    summary: 'Mint a key for web pages',
    description:
      'The token is in this answer only, and may stand in the source of a page: it sends from one address to those of allowed_to, ' +
      'on pages of allowed_origins, and does nothing else.',
    errors: ['not_found', 'conflict'],
    body: newPublishableKeyBody,
    response: mintedPublishableKeyShape,
    examples: {
      body: { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' },
    },
    async handle({ scope, body }) {
      const request = toNewPublishableKey(body)
      const { keys } = core.publishable
      return toWireMinted(await (body.reveal ? keys.mintWithReveal(scope, request) : keys.mint(scope, request)))
    },
  }),
  operation({
    ...{ method: 'POST', path: `${path}/{id}/rotate`, operationId: 'rotatePublishableKey', tags, right: 'api:admin' },
    summary: 'Replace the token of a publishable key',
    description: 'The old token stops working at once. What was sent with it still counts in the windows of the key.',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: rotatePublishableKeyBody,
    response: mintedPublishableKeyShape,
    async handle({ scope, params: { id }, body: { reason, reveal } }) {
      const { keys } = core.publishable
      return toWireMinted(await (reveal ? keys.rotateWithReveal(scope, id, reason) : keys.rotate(scope, id, reason)))
    },
  }),
  operation({
    ...{ method: 'DELETE', path: `${path}/{id}`, operationId: 'revokePublishableKey', tags, right: 'api:admin' },
    summary: 'Revoke a publishable key',
    description: 'At once and for good; again does nothing.',
    errors: ['not_found', 'conflict'],
    params: idParams,
    query: revokePublishableKeyQuery,
    response: publishableKeyShape,
    handle: async ({ scope, params: { id }, query: { reason } }) =>
      toWirePublishableKey(await core.publishable.keys.revoke(scope, id, reason)),
  }),
  operation({
    ...{ method: 'POST', path: `${path}/snippets`, operationId: 'generateHtmlSnippet', tags, right: 'api:admin' },
    summary: 'Make a contact form out of a reveal link',
    description: 'The link is used up, and nobody has to see the token. The form works on pages of the allowed origins.',
    errors: ['not_found', 'reveal_expired'],
    body: snippetBody,
    response: snippetShape,
    async handle({ scope, body }) {
      const { html, allowedOrigins } = await core.publishable.snippets.generate(scope, toSnippetRequest(body))
      return { html, allowed_origins: [...allowedOrigins] }
    },
  }),
]

const readingOperations = (core: RestCore): readonly Operation[] => [
  operation({
    ...{ method: 'GET', path, operationId: 'listPublishableKeys', tags, right: 'api:read' },
    summary: 'List publishable keys, the newest first',
    description: 'Revoked keys stay on the list. Tokens are never shown again.',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(publishableKeyShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.publishable.keys.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWirePublishableKey), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    ...{ method: 'GET', path: `${path}/{id}`, operationId: 'readPublishableKey', tags, right: 'api:read' },
    summary: 'Read a publishable key',
    errors: ['not_found'],
    params: idParams,
    response: publishableKeyShape,
    handle: async ({ scope, params: { id } }) => toWirePublishableKey(await core.publishable.keys.get(scope, id)),
  }),
]
