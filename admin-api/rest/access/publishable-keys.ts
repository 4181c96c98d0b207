/** Publishable keys. Spec "Publishable key", "Authentication" 6. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  publishableKeyWithToken,
  newPublishableKey,
  newSnippet,
  publishableKey,
  revocation,
  rotation,
  snippet,
} from '../../wire/access/publishable-key.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['publishable keys']
const publishableKeys = resource('/v1/publishable-keys', { name: 'PublishableKey', tags, feature: 'publishable_keys' })
const htmlSnippets = resource('/v1/publishable-keys/snippets', { name: 'HtmlSnippet', tags, feature: 'publishable_keys' })

export const publishableKeyActions = ({ publishable: { keys, snippets } }: RestCore): readonly Action[] => [
  publishableKeys.list({
    summary: 'List publishable keys, newest first',
    description: 'Revoked keys stay in the list. Tokens are never shown again.',
    item: publishableKey,
    run: ({ principal }, page) => keys.list(principal, page),
  }),
  publishableKeys.read({
    summary: 'Get a publishable key',
    output: publishableKey,
    run: ({ principal }, { id }) => keys.get(principal, id),
  }),
  publishableKeys.create({
    summary: 'Create a publishable key',
    description:
      'Only this response contains the token, which can be part of the source of a web page. It allows sends from one address to those of allowed_to, ' +
      'from pages of allowed_origins, and nothing else.',
    input: newPublishableKey,
    output: publishableKeyWithToken,
    examples: {
      input: { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' },
    },
    run: ({ principal }, { reveal, ...key }) => (reveal ? keys.createWithReveal(principal, key) : keys.create(principal, key)),
  }),
  publishableKeys.act('rotate', {
    summary: 'Rotate a publishable key',
    description: 'The old token stops working immediately. Messages that were sent with it still count toward the rates of the key.',
    input: rotation,
    output: publishableKeyWithToken,
    http: { emptyBody: {} },
    run: ({ principal }, { id, reason, reveal }) =>
      reveal ? keys.rotateWithReveal(principal, id, reason) : keys.rotate(principal, id, reason),
  }),
  publishableKeys.remove({
    id: 'revokePublishableKey',
    summary: 'Revoke a publishable key',
    description: 'Permanent and effective immediately. Idempotent: revoking a key again changes nothing.',
    input: revocation,
    output: publishableKey,
    run: ({ principal }, { id, reason }) => keys.revoke(principal, id, reason),
  }),
  htmlSnippets.create({
    summary: 'Create an HTML snippet from a reveal link',
    description:
      'The snippet is a contact form that works on pages of the allowed origins. The link works once; the token is not shown to the caller.',
    errors: ['not_found', 'reveal_expired'],
    input: newSnippet,
    output: snippet,
    http: { status: 200 },
    run: ({ principal }, request) => snippets.generate(principal, request),
  }),
]
