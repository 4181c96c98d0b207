/** API keys. Spec "Authentication" 3. */
import * as z from 'zod'
import type { MintedKey } from '#core/access/api-keys.ts'
import { operation, type Operation } from '../operation.ts'
import {
  apiKeyChangesBody,
  apiKeyShape,
  mintedKeyShape,
  newApiKeyBody,
  toApiKeyChanges,
  toNewApiKey,
  toWireApiKey,
} from '../wire/api-key.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { id, idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['api keys']

export const apiKeyOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...minting(core), ...changing(core)]

const withKey = (core: RestCore, minted: MintedKey) => ({ ...toWireApiKey(minted, core.clock.now()), key: minted.key })

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/api-keys',
    operationId: 'listApiKeys',
    summary: 'List API keys, the newest first',
    description:
      'The key of POSTERN_ADMIN_KEY comes first. Revoked keys stay on the list. With minted_by, the keys that end when this member is removed; ' +
      'a page can then be short although there is a next one.',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject({ ...pagingFields, minted_by: id.optional().meta({ description: 'Id of a user.' }) }),
    response: pageOf(apiKeyShape),
    async handle({ scope, query: { limit, cursor, project, minted_by } }) {
      const page = await core.apiKeys.list(scope, { limit, cursor, projectId: project, mintedBy: minted_by })
      return { data: page.rows.map((key) => toWireApiKey(key, core.clock.now())), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/api-keys/{id}',
    operationId: 'readApiKey',
    summary: 'Read an API key',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: apiKeyShape,
    handle: async ({ scope, params }) => toWireApiKey(await core.apiKeys.get(scope, params.id), core.clock.now()),
  }),
]

const minting = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/api-keys',
    operationId: 'mintApiKey',
    summary: 'Mint an API key',
    description:
      'The key is in this answer only. It has at most the scopes of the key that mints it. What a member mints, also by an application, ' +
      'never reaches beyond the role of the member, and ends with the member or the application unless it is kept. ' +
      'With send_only the key sends and reads nothing but the status of what it sent itself.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict'],
    body: newApiKeyBody,
    response: mintedKeyShape,
    examples: { body: { name: 'Shop', send_only: true } },
    handle: async ({ scope, body }) => withKey(core, await core.apiKeys.mint(scope, toNewApiKey(body))),
  }),
  operation({
    method: 'POST',
    path: '/v1/api-keys/{id}/rotate',
    operationId: 'rotateApiKey',
    summary: 'Replace the secret of an API key',
    description:
      'The old secret stops working at once; the new one is in this answer only. ' +
      'Nobody gets the secret of a key that reaches further than they do or outlasts them: members, their keys and applications rotate keys that end with them.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: mintedKeyShape,
    handle: async ({ scope, params }) => withKey(core, await core.apiKeys.rotate(scope, params.id)),
  }),
]

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/api-keys/{id}',
    operationId: 'updateApiKey',
    summary: 'Rename an API key, change its end, or keep it',
    description:
      'Of the active keys with api:admin for the whole organization, the one that lasts longest cannot be given an earlier end. ' +
      'A later end of a key that outlasts who asks needs api:admin for the whole organization.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: apiKeyChangesBody,
    response: apiKeyShape,
    examples: { body: { name: 'Shop, live' } },
    handle: async ({ scope, params, body }) =>
      toWireApiKey(await core.apiKeys.update(scope, params.id, toApiKeyChanges(body)), core.clock.now()),
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
