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
      'The key from POSTERN_ADMIN_KEY is first. Revoked keys stay in the list. With `minted_by`, lists the keys that are revoked ' +
      'when this member is removed; a page can then contain fewer entries than `limit` and still have a next page.',
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
      'Only this response contains the key. Its scopes cannot exceed those of the creating key. A key created by a member, ' +
      'directly or through an application, never exceeds the role of the member. It is revoked with the member or the ' +
      'application, except after an update with `kept`. A key with an expiry and without `api:admin` for the whole organization ' +
      'cannot create a key that expires later: without `expires_at`, both expire at the same time. With `send_only`, the key can ' +
      'only send, and read the status of its own sends.',
    input: newApiKey,
    output: apiKeyWithSecret,
    examples: { input: { name: 'Shop', send_only: true } },
    run: ({ core, principal }, { scopes = [], ...key }) => core.apiKeys.create(principal, { ...key, scopes }),
  }),
  keys.act('rotate', {
    summary: 'Replace the secret of an API key',
    description:
      'The old secret stops working immediately. Only this response contains the new secret. A caller cannot rotate a key that ' +
      'has more access or lasts longer than the caller: members, their keys and their applications can rotate only keys that are ' +
      'revoked with them.',
    output: apiKeyWithSecret,
    run: ({ core, principal }, { id }) => core.apiKeys.rotate(principal, id),
  }),
  keys.change({
    summary: 'Update an API key',
    description:
      'Renames the key, changes its expiry, or keeps it beyond the member or application that created it. The expiry of the ' +
      'longest-lasting active key with `api:admin` for the whole organization cannot be moved earlier. Requires `api:admin` for ' +
      'the whole organization to extend a key that outlasts the caller, or to extend a key beyond the expiry of the caller’s own ' +
      'key.',
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
