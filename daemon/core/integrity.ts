/** What `verify` must know of the core: its record kinds, its other rows, and which record refers to what. */
import type { ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { VerifyOptions } from '#store/verify.ts'
import { apiKeys } from './access/api-key.ts'
import { smtpCredentials } from './access/smtp-credential.ts'
import { captures, inboxes, type Capture } from './capture/capture.ts'
import { sendingDomains } from './domains/sending-domain.ts'
import { suppressions } from './feedback/suppression.ts'
import { oauthGrants } from './oauth/grant.ts'
import { destinations } from './routing/destination.ts'
import { failoverPolicies } from './routing/failover-policy.ts'
import { routingRules } from './routing/rule.ts'
import { replayJobs } from './submission/replay-job.ts'
import { templateDisagreements } from './templates/agreement.ts'
import { templates, templateVersions } from './templates/template.ts'
import { organizations, projects } from './tenancy/organization.ts'
import { traces, type Trace } from './trace/trace.ts'

/** Every kind of record that this core writes. */
export const recordKinds = [
  organizations,
  projects,
  apiKeys,
  smtpCredentials,
  destinations,
  routingRules,
  sendingDomains,
  failoverPolicies,
  traces,
  captures,
  inboxes,
  replayJobs,
  templates,
  templateVersions,
  suppressions,
  oauthGrants,
] as const

/** Options for `verify` of a store written by this core. */
export function integrityChecks(database: Database): VerifyOptions {
  return {
    kinds: recordKinds,
    families: [
      { name: 'event', check: async ([organizationId, , traceId]) => missing(database, String(organizationId), 'trace', String(traceId)) },
      { name: 'idempotency' },
      { name: 'settings' },
      { name: 'capture.pending', global: true },
      { name: 'master-key', global: true },
      { name: 'replay.open', global: true },
      { name: 'oauth.signing-key', global: true },
      { name: 'oauth.client', global: true },
      { name: 'oauth.code', global: true },
      { name: 'oauth.refresh-token', global: true },
      { name: 'oauth.sandbox', global: true },
      { name: 'oauth.limit', global: true },
    ],
    contents: {
      of: (kind, _organizationId, record): readonly ContentRef[] => (kind === traces.name ? [(record as Trace).content] : []),
      owner: async (organizationId, contentId) => (await database.get(traces, { organizationId }, contentId))?.record.content,
    },
    async checkRecord(kind, organizationId, record) {
      if (kind !== captures.name) return templateDisagreements(database, kind, organizationId, record)
      return missing(database, organizationId, 'trace', (record as Capture).traceId)
    },
    checkQueueEntry: (entry) => checkQueueEntry(database, entry),
  }
}

async function missing(database: Database, organizationId: string, noun: string, traceId: string): Promise<string[]> {
  const stored = await database.get(traces, { organizationId }, traceId)
  return stored ? [] : [`the ${noun} ${traceId} that it belongs to is missing`]
}

async function checkQueueEntry(database: Database, entry: QueueEntry): Promise<string[]> {
  const stored = await database.get(traces, entry, entry.traceId)
  if (!stored) return [`the trace ${entry.traceId} of a queue entry is missing`]
  if (stored.record.status !== 'queued')
    return [`the trace ${entry.traceId} is queued for delivery although its status is ${stored.record.status}`]
  return []
}
