/** Ingest sources: who may post reports, and from which mailboxes they are fetched. Spec "Bounce and complaint ingestion". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { sourceWithSecretEncoder, newIngestSource, sourceDetailEncoder, sourceEncoder } from '../../wire/feedback/ingest-source.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/ingest-sources', { name: 'IngestSource', tags: ['ingest'], feature: 'bounce_sources' })

export const ingestSourceActions = ({ ingest: { sources }, baseUrl }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List ingest sources, newest first',
    errors: [],
    filter: {},
    item: sourceEncoder(baseUrl),
    run: ({ principal }, page) => sources.list(principal, page),
  }),
  all.create({
    summary: 'Create an ingest source',
    description:
      'Only this response contains the secret. Every request to `webhook_url` must carry `X-Service-Signature: sha256=` followed by the ' +
      'hexadecimal HMAC-SHA256 of the raw body, keyed by the secret.',
    errors: ['conflict'],
    input: newIngestSource,
    output: sourceWithSecretEncoder(baseUrl),
    examples: { input: { provider: 'stalwart', label: 'mx1' } },
    run: ({ principal }, { imapConfig, ...source }) => sources.create(principal, { ...source, imap: imapConfig ?? undefined }),
  }),
  all.read({
    summary: 'Get an ingest source with its health',
    output: sourceDetailEncoder(baseUrl),
    async run({ principal }, { id }) {
      const story = await sources.get(principal, id)
      return { ...story, ...(await sources.unusedInput(principal, id)) }
    },
  }),
  all.remove({
    id: 'revokeIngestSource',
    summary: 'Revoke an ingest source',
    description: 'Idempotent. Requests signed with its secret are refused from then on; its postoffice mappings are deleted.',
    errors: ['conflict'],
    run: ({ principal }, { id }) => sources.revoke(principal, id),
  }),
]
