/** API keys. Spec "Authentication" 3. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { apiKey, apiKeyChanges, apiKeyWithSecret, newApiKey } from '../../wire/access/api-key.ts'
import { project } from '../../wire/fields/paging.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const keys = resource('/v1/api-keys', { name: 'ApiKey', tags: ['api keys'], graphql: true })

export const apiKeyActions: readonly Action<RestCore>[] = [
  keys.list({
    summary: 'List API keys, newest first',
    description:
      'The key of POSTERN_ADMIN_KEY comes first. Revoked keys stay in the list. With `minted_by`, lists the keys that end when this member is removed; ' +
      'a page can then contain fewer entries than `limit` and still have a next one.',
    filter: { project, minted_by: id.optional().meta({ description: 'Id of a user.' }) },
    item: apiKey,
    run: ({ core, principal }, page) => core.apiKeys.list(principal, page),
  }),
  keys.read({
    summary: 'Get an API key',
    output: apiKey,
    run: ({ core, principal }, { id }) => core.apiKeys.get(principal, id),
  }),
  keys.create({
    summary: 'Create an API key',
    description:
      'Only this response contains the key. It has at most the scopes of the key that creates it. A key that a member creates, directly or through an application, ' +
      'never exceeds the role of the member, and ends with the member or the application unless it is kept. ' +
      'A key that expires, and does not have `api:admin` for the whole organization, cannot create one that expires later: without `expires_at`, both expire at the same time. ' +
      'With `send_only`, the key can send, and read the status of its own sends, and nothing else.',
    input: newApiKey,
    output: apiKeyWithSecret,
    examples: { input: { name: 'Shop', send_only: true } },
    run: ({ core, principal }, { scopes = [], ...key }) => core.apiKeys.create(principal, { ...key, scopes }),
  }),
  keys.act('rotate', {
    summary: 'Replace the secret of an API key',
    description:
      'The old secret stops working immediately. Only this response contains the new one. ' +
      'A caller cannot rotate a key that has more access or lasts longer than the caller: members, their keys and their applications can rotate only keys that end with them.',
    output: apiKeyWithSecret,
    run: ({ core, principal }, { id }) => core.apiKeys.rotate(principal, id),
  }),
  keys.change({
    summary: 'Update an API key',
    description:
      'Renames the key, changes when it expires, or keeps it beyond the member or application that created it. Of the active keys with `api:admin` for the whole organization, the one that lasts longest cannot be made to expire earlier. ' +
      'To extend a key that outlasts the caller, or to extend it beyond the expiry of the caller’s own key, requires `api:admin` for the whole organization.',
    input: apiKeyChanges,
    output: apiKey,
    examples: { input: { name: 'Shop, live' } },
    run: ({ core, principal }, { id, ...changes }) => core.apiKeys.update(principal, id, changes),
  }),
  keys.remove({
    id: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'Idempotent. The last active key with api:admin for the whole organization cannot be revoked.',
    output: apiKey,
    run: ({ core, principal }, { id }) => core.apiKeys.revoke(principal, id),
  }),
]
