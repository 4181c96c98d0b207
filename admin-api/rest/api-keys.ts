/** API keys. Spec "Authentication" 3. */
import * as z from 'zod'
import type { MintedKey } from '#core/access/api-keys.ts'
import { operation, type Operation } from '../operation.ts'
import { apiKeyShape, mintedKeyShape, newApiKeyBody, toNewApiKey, toWireApiKey } from '../wire/api-key.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['api keys']

export function apiKeyOperations(core: RestCore): readonly Operation[] {
  const shown = ({ record, key }: MintedKey) => ({ ...toWireApiKey(record, core.clock.now()), key })
  return [
    operation({
      method: 'GET',
      path: '/v1/api-keys',
      operationId: 'listApiKeys',
      summary: 'List API keys, the newest first',
      description: 'The key of POSTERN_ADMIN_KEY comes first. Revoked keys stay on the list.',
      tags,
      right: 'api:read',
      errors: ['not_found'],
      query: z.strictObject(pagingFields),
      response: pageOf(apiKeyShape),
      async handle({ scope, query: { limit, cursor, project } }) {
        const page = await core.apiKeys.list(scope, { limit, cursor, projectId: project })
        return { data: page.rows.map((key) => toWireApiKey(key, core.clock.now())), next_cursor: page.nextCursor ?? null }
      },
    }),
    operation({
      method: 'POST',
      path: '/v1/api-keys',
      operationId: 'mintApiKey',
      summary: 'Mint an API key',
      description: 'The key is in this answer only. It has at most the scopes of the key that mints it.',
      tags,
      right: 'api:admin',
      status: 201,
      errors: ['not_found', 'conflict'],
      body: newApiKeyBody,
      response: mintedKeyShape,
      examples: { body: { name: 'Shop', scopes: ['api:send'] } },
      handle: async ({ scope, body }) => shown(await core.apiKeys.mint(scope, toNewApiKey(body))),
    }),
    operation({
      method: 'POST',
      path: '/v1/api-keys/{id}/rotate',
      operationId: 'rotateApiKey',
      summary: 'Replace the secret of an API key',
      description: 'The old secret stops working at once; the new one is in this answer only.',
      tags,
      right: 'api:admin',
      errors: ['not_found', 'conflict'],
      params: idParams,
      response: mintedKeyShape,
      handle: async ({ scope, params }) => shown(await core.apiKeys.rotate(scope, params.id)),
    }),
    operation({
      method: 'DELETE',
      path: '/v1/api-keys/{id}',
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'Idempotent. The last active key with api:admin for the whole organization cannot be revoked.',
      tags,
      right: 'api:admin',
      errors: ['not_found', 'conflict'],
      params: idParams,
      response: apiKeyShape,
      handle: async ({ scope, params }) => toWireApiKey(await core.apiKeys.revoke(scope, params.id), core.clock.now()),
    }),
  ]
}
