/** API keys. Spec "Authentication" 3. */
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { apiKeyChanges, apiKeyEncoder, mintedApiKeyEncoder, newApiKey } from '../wire/api-key.ts'
import { project } from '../wire/paging.ts'
import { id } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const keys = resource('/v1/api-keys', { name: 'ApiKey', tags: ['api keys'] })

export const apiKeyActions = ({ apiKeys, clock }: RestCore): readonly Action[] => {
  const apiKey = apiKeyEncoder(clock)
  const mintedApiKey = mintedApiKeyEncoder(clock)
  return [
    keys.list({
      summary: 'List API keys, the newest first',
      description:
        'The key of POSTERN_ADMIN_KEY comes first. Revoked keys stay on the list. With minted_by, the keys that end when this member is removed; ' +
        'a page can then be short although there is a next one.',
      filter: { project, minted_by: id.optional().meta({ description: 'Id of a user.' }) },
      item: apiKey,
      run: ({ principal }, page) => apiKeys.list(principal, page),
    }),
    keys.read({
      summary: 'Read an API key',
      output: apiKey,
      run: ({ principal }, { id }) => apiKeys.get(principal, id),
    }),
    keys.create({
      summary: 'Create an API key',
      description:
        'The key is in this answer only. It has at most the scopes of the key that mints it. What a member mints, also by an application, ' +
        'never reaches beyond the role of the member, and ends with the member or the application unless it is kept. ' +
        'A key that ends, and is not one with api:admin for the whole organization, mints none that lasts longer: without expires_at the new one ends with it. ' +
        'With send_only the key sends and reads nothing but the status of what it sent itself.',
      input: newApiKey,
      output: mintedApiKey,
      examples: { input: { name: 'Shop', send_only: true } },
      run: ({ principal }, { scopes = [], ...key }) => apiKeys.mint(principal, { ...key, scopes }),
    }),
    keys.act('rotate', {
      summary: 'Replace the secret of an API key',
      description:
        'The old secret stops working at once; the new one is in this answer only. ' +
        'Nobody gets the secret of a key that reaches further than they do or outlasts them: members, their keys and applications rotate keys that end with them.',
      output: mintedApiKey,
      run: ({ principal }, { id }) => apiKeys.rotate(principal, id),
    }),
    keys.change({
      summary: 'Rename an API key, change its end, or keep it',
      description:
        'Of the active keys with api:admin for the whole organization, the one that lasts longest cannot be given an earlier end. ' +
        'A later end of a key that outlasts who asks, or one later than that of the key that asks, needs api:admin for the whole organization.',
      input: apiKeyChanges,
      output: apiKey,
      examples: { input: { name: 'Shop, live' } },
      run: ({ principal }, { id, ...changes }) => apiKeys.update(principal, id, changes),
    }),
    keys.remove({
      id: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'Idempotent. The last active key with api:admin for the whole organization cannot be revoked.',
      output: apiKey,
      run: ({ principal }, { id }) => apiKeys.revoke(principal, id),
    }),
  ]
}
