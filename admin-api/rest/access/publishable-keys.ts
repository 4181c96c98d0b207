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
/** An agent uses the project of its token, and receives keys only as reveal links. */
const agentFields = Object.keys(newPublishableKey.shape).filter((name) => name !== 'project_id' && name !== 'reveal')

const publishableKeys = resource('/v1/publishable-keys', { name: 'PublishableKey', tags, feature: 'publishable_keys', graphql: true })
const htmlSnippets = resource('/v1/publishable-keys/snippets', { name: 'HtmlSnippet', tags, feature: 'publishable_keys' })

const reading: readonly Action<RestCore>[] = [
  publishableKeys.list({
    summary: 'List publishable keys, newest first',
    description: 'Revoked keys stay in the list. Tokens are never shown again.',
    item: publishableKey,
    tool: {
      name: 'publishable_key_list',
      toolset: 'publishable-keys',
      description:
        'List the keys for web pages with their origins, recipients, sender and rates, as previews; never tokens. Revoked keys ' +
        'stay in the list.',
      arguments: [],
      fixed: { limit: 200 },
    },
    run: ({ core, principal }, page) => core.publishable.keys.list(principal, page),
  }),
  publishableKeys.read({
    summary: 'Get a publishable key',
    output: publishableKey,
    run: ({ core, principal }, { id }) => core.publishable.keys.get(principal, id),
  }),
]

const changing: readonly Action<RestCore>[] = [
  publishableKeys.create({
    summary: 'Create a publishable key',
    description:
      'Only this response contains the token, which can be part of the source of a web page. It only allows sends from one ' +
      'address to the recipients in allowed_to, from pages of allowed_origins.',
    input: newPublishableKey,
    output: publishableKeyWithToken,
    tool: {
      name: 'publishable_key_create',
      toolset: 'publishable-keys',
      description:
        'Create a key for a web page: it sends from one address to allowed recipients, from allowed origins. Returns reveal_url, ' +
        'valid once for 5 minutes: for email_html_snippet_generate or the user, never for chat.',
      arguments: agentFields,
      fixed: { reveal: true },
      secretLinks: ['reveal_url'],
    },
    examples: {
      input: { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' },
    },
    run: ({ core, principal }, { reveal, ...key }) =>
      reveal ? core.publishable.keys.createWithReveal(principal, key) : core.publishable.keys.create(principal, key),
  }),
  publishableKeys.act('rotate', {
    summary: 'Rotate a publishable key',
    description: 'The old token stops working immediately. Earlier messages of the key still count toward its rates.',
    input: rotation,
    tool: {
      name: 'publishable_key_rotate',
      toolset: 'publishable-keys',
      description:
        'Replace the token of a publishable key; pages with the old token stop sending at once, so ask the user first. Returns ' +
        'reveal_url, valid once for 5 minutes: for email_html_snippet_generate or the user, never for chat.',
      arguments: ['id', 'reason'],
      fixed: { reveal: true },
      secretLinks: ['reveal_url'],
      hints: { destructive: true },
    },
    output: publishableKeyWithToken,
    http: { emptyBody: {} },
    run: ({ core, principal }, { id, reason, reveal }) =>
      reveal ? core.publishable.keys.rotateWithReveal(principal, id, reason) : core.publishable.keys.rotate(principal, id, reason),
  }),
  publishableKeys.remove({
    id: 'revokePublishableKey',
    summary: 'Revoke a publishable key',
    tool: {
      name: 'publishable_key_revoke',
      toolset: 'publishable-keys',
      description:
        'Permanently revoke a publishable key: pages that use it can no longer send. Ask the user first. To keep the ' +
        'page working use publishable_key_rotate.',
      hints: { destructive: true, idempotent: true },
    },
    description: 'Permanent and effective immediately. Idempotent: revoking a key again changes nothing.',
    input: revocation,
    output: publishableKey,
    run: ({ core, principal }, { id, reason }) => core.publishable.keys.revoke(principal, id, reason),
  }),
]

const snippetAction: Action<RestCore> = htmlSnippets.create({
  summary: 'Create an HTML snippet from a reveal link',
  description:
    'The snippet is a contact form for pages of the allowed origins. The link works once; the caller does not receive the token ' +
    'separately.',
  errors: ['not_found', 'reveal_expired'],
  input: newSnippet,
  tool: {
    name: 'email_html_snippet_generate',
    toolset: 'publishable-keys',
    description:
      'Turn the reveal_url of publishable_key_create into the HTML of a working contact form, in html. Consumes the link, so ' +
      'call it once; the token is part of the HTML by design. Put the HTML on a page of the allowed origins.',
  },
  output: snippet,
  http: { status: 200 },
  run: ({ core, principal }, request) => core.publishable.snippets.generate(principal, request),
})

export const publishableKeyActions: readonly Action<RestCore>[] = [...reading, ...changing, snippetAction]
