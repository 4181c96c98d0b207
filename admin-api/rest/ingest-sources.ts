/** Ingest sources: who may post reports, and from which mailboxes they are fetched. Spec "Bounce and complaint ingestion". */
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { mintedSourceEncoder, newIngestSource, sourceDetailEncoder, sourceEncoder } from '../wire/ingest-source.ts'
import type { RestCore } from './core.ts'

const all = resource('/v1/ingest-sources', { name: 'IngestSource', tags: ['ingest'], feature: 'bounce_sources' })

export const ingestSourceActions = ({ ingest: { sources }, baseUrl }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List ingest sources, the newest first',
    errors: [],
    filter: {},
    item: sourceEncoder(baseUrl),
    run: ({ principal }, page) => sources.list(principal, page),
  }),
  all.create({
    summary: 'Make an ingest source',
    description:
      'The secret is in this answer only. Everything that is posted to `webhook_url` carries `X-Service-Signature: sha256=` and the ' +
      'hexadecimal HMAC-SHA256 of the raw body under it.',
    errors: ['conflict'],
    input: newIngestSource,
    output: mintedSourceEncoder(baseUrl),
    examples: { input: { provider: 'stalwart', label: 'mx1' } },
    run: ({ principal }, { imapConfig, ...source }) => sources.create(principal, { ...source, imap: imapConfig ?? undefined }),
  }),
  all.read({
    summary: 'Read an ingest source and how it is doing',
    output: sourceDetailEncoder(baseUrl),
    async run({ principal }, { id }) {
      const story = await sources.get(principal, id)
      return { ...story, ...(await sources.leftOver(principal, id)) }
    },
  }),
  all.remove({
    id: 'revokeIngestSource',
    summary: 'Revoke an ingest source',
    description: 'Idempotent. Nothing that is signed with its secret is taken from then on; its postoffice mappings go with it.',
    errors: ['conflict'],
    run: ({ principal }, { id }) => sources.revoke(principal, id),
  }),
]
