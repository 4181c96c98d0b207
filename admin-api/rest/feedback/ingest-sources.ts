/** Ingest sources: senders of reports, and mailboxes with reports. Spec "Bounce and complaint ingestion". */
import { sourceHealth } from '#core/health/resources.ts'
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { ingestSource, newIngestSource, sourceDetail, sourceWithSecret } from '../../wire/feedback/ingest-source.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/ingest-sources', { name: 'IngestSource', tags: ['ingest'], feature: 'bounce_sources' })

/** Fields with text of other servers, and with names and addresses from reports. */
const saidFields = ['last_error', 'agent']
const reportedFields = [...saidFields, 'latest', 'domain_complaints', 'dropped_postoffices', 'refusals', 'ignored_lines']

const making: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List ingest sources, newest first',
    errors: [],
    filter: {},
    item: ingestSource,
    tool: {
      name: 'bounce_source_list',
      toolset: 'bounces',
      description:
        'List the sources of bounce and complaint reports: provider, webhook_url and health; never secrets. For one source use ' +
        'bounce_source_get.',
      untrusted: saidFields,
      arguments: [],
      fixed: { limit: 200 },
      reachesOrganization: true,
    },
    run: async ({ core, principal }, page) => core.health.page(principal, sourceHealth, await core.ingest.sources.list(principal, page)),
  }),
  all.create({
    summary: 'Create an ingest source',
    description:
      'Only this response contains the secret. Every request to `webhook_url` must carry `X-Service-Signature: sha256=` followed by the ' +
      'hexadecimal HMAC-SHA256 of the raw body, keyed by the secret.',
    errors: ['conflict'],
    input: newIngestSource,
    output: sourceWithSecret,
    tool: {
      name: 'bounce_source_create',
      toolset: 'bounces',
      description:
        'Create a source of bounce and complaint reports and get its webhook_url and, once, its secret, which the user puts into ' +
        'the mail server; never write it into chat. Set up mailboxes to poll in the dashboard. Next: bounce_source_get.',
      arguments: ['provider', 'label'],
      secrets: ['hmac_secret'],
      reachesOrganization: true,
    },
    examples: { input: { provider: 'stalwart', label: 'mx1' } },
    run: ({ core, principal }, { imapConfig, ...source }) =>
      core.ingest.sources.create(principal, { ...source, imap: imapConfig ?? undefined }),
  }),
]

const lasting: readonly Action<RestCore>[] = [
  all.read({
    summary: 'Get an ingest source with its health',
    output: sourceDetail,
    tool: {
      name: 'bounce_source_get',
      toolset: 'bounces',
      description: 'Get one bounce source with its health, and the parts of its reports that had no effect.',
      untrusted: reportedFields,
      reachesOrganization: true,
    },
    async run({ core, principal }, { id }) {
      const details = await core.health.one(principal, sourceHealth, await core.ingest.sources.get(principal, id))
      return { ...details, ...(await core.ingest.sources.unusedInput(principal, id)) }
    },
  }),
  all.act('rotate-secret', {
    summary: 'Rotate the secret of an ingest source',
    description:
      'Requests signed with the old secret are refused immediately. `webhook_url`, mappings and statistics do not change. Only ' +
      'this response contains the new secret.',
    output: sourceWithSecret,
    run: ({ core, principal }, { id }) => core.ingest.sources.rotate(principal, id),
  }),
  all.remove({
    id: 'revokeIngestSource',
    summary: 'Revoke an ingest source',
    tool: {
      name: 'bounce_source_revoke',
      toolset: 'bounces',
      description:
        'Revoke a bounce source: its reports are refused from now on, and its postoffice mappings are deleted. Ask the user ' +
        'first. To replace a lost secret, rotate it in the dashboard.',
      reachesOrganization: true,
      hints: { destructive: true, idempotent: true },
    },
    description: 'Idempotent. Requests signed with its secret are refused from now on; its postoffice mappings are deleted.',
    errors: ['conflict'],
    run: ({ core, principal }, { id }) => core.ingest.sources.revoke(principal, id),
  }),
]

export const ingestSourceActions: readonly Action<RestCore>[] = [...making, ...lasting]
