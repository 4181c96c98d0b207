/** Creates, reads and revokes ingest sources. Spec "Bounce source". */
import { randomBytes } from 'node:crypto'
import type { Page } from '#store/database.ts'
import type { Core } from '../core.ts'
import type { List, PageQuery } from '../access/principal/lists.ts'
import { reachOf, requireAdministration } from '../access/principal/organization-acts.ts'
import type { Principal } from '../access/principal/principal.ts'
import { ofNoProject } from '../plan/by-project.ts'
import { recordPeakUsage } from '../plan/peak-usage.ts'
import { Refusal } from '../refusals.ts'
import type { EndpointGuards } from '../routing/destinations/endpoint.ts'
import { domainComplaints, type DomainComplaints } from './domain-complaints.ts'
import { droppedPostoffices, type DroppedPostoffice } from './dropped-postoffices.ts'
import { forgetIgnored, ignoredLines, type IgnoredCount } from './ignored-lines.ts'
import { checkImap, type ImapRequest } from './imap-mailbox.ts'
import {
  hmacSecretContext,
  imapPasswordContext,
  ingestSources,
  mailboxWork,
  type ImapConfig,
  type IngestProvider,
  type IngestSource,
} from './ingest-source.ts'
import { must } from '../writes/transact.ts'
import { postofficeMappings } from './postoffice-mapping.ts'
import { refusedRecipients, type RefusalCount } from './refused-recipients.ts'
import { pollKey, readPoll, readSeen, seenKey, type SourcePoll, type SourceSeen } from './source-status.ts'
import { forgetUnmatched, unmatchedReports, type GivenUpReport, type UnmatchedCounts } from './unmatched-reports.ts'

export interface IngestSourceOptions extends EndpointGuards, Core {}

export interface NewIngestSource {
  readonly provider: IngestProvider
  readonly label?: string | undefined
  readonly imap?: ImapRequest | undefined
}

/** A source with its status. */
export interface SourceDetails {
  readonly source: IngestSource
  readonly seen: SourceSeen | undefined
  readonly poll: SourcePoll | undefined
}

/** A source with its new secret, which is returned only once. */
export interface SourceWithSecret {
  readonly details: SourceDetails
  readonly secret: string
}

/** Input of a source that changed no message. */
export interface UnusedInput {
  readonly dropped: readonly DroppedPostoffice[]
  readonly refusals: readonly RefusalCount[]
  readonly unmatched: { readonly counts: UnmatchedCounts; readonly latest: readonly GivenUpReport[] }
  readonly complaints: readonly DomainComplaints[]
  readonly ignored: readonly IgnoredCount[]
}

/** Maximum number of sources per organization. */
const maxSources = 1000
const secretLength = 40

export class IngestSources implements List<unknown, SourceDetails> {
  readonly #options: IngestSourceOptions

  constructor(options: IngestSourceOptions) {
    this.#options = options
  }

  /** Creates a source. Throws `validation_failed`, and `conflict` at the limit of sources. */
  async create(principal: Principal, request: NewIngestSource): Promise<SourceWithSecret> {
    requireAdministration(principal, 'sources.change')
    const { database, writes, secrets, clock } = this.#options
    const { organizationId } = principal
    const mailbox = request.imap && (await checkImap(request.provider, request.imap, this.#options))
    return writes.runAudited(principal, 'ingest_source.created', async (change) => {
      const alive = (await database.all(ingestSources, { organizationId })).length
      if (alive >= maxSources) {
        const message = `An organization can have at most ${maxSources} ingest sources; revoke one first.`
        throw new Refusal('conflict', message, { nextAction: 'revoke_source' })
      }
      const now = clock.now()
      const id = database.newId('src', now)
      const secret = newSecret()
      const imap: ImapConfig | null =
        mailbox && request.imap ? { ...mailbox, sealedPassword: secrets.seal(request.imap.password, imapPasswordContext(id)) } : null
      const sealedSecret = secrets.seal(secret, hmacSecretContext(id))
      const source = { id, provider: request.provider, label: request.label ?? '', sealedSecret, imap, createdAt: now }
      change.insert(ingestSources, organizationId, source)
      if (imap) change.schedule(mailboxWork, id)
      await recordPeakUsage({ database, change, organizationId }, 'sources', heldFrom(alive, alive + 1), now)
      return { details: { source, seen: undefined, poll: undefined }, secret }
    })
  }

  /** Lists sources, newest first. */
  async list(principal: Principal, { limit, cursor }: PageQuery): Promise<Page<SourceDetails>> {
    const { rows, nextCursor } = await this.#options.database.list(ingestSources, principal, { limit, cursor })
    return { rows: await Promise.all(rows.map(({ record }) => this.#details(principal.organizationId, record))), nextCursor }
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<SourceDetails> {
    const stored = await this.#options.database.get(ingestSources, principal, id)
    if (!stored) throw new Refusal('not_found', 'No ingest source has this id.')
    return this.#details(principal.organizationId, stored.record)
  }

  /** Returns input without effect. It can concern any project, so keys of one project get an empty result. */
  async unusedInput(principal: Principal, id: string): Promise<UnusedInput> {
    if (reachOf(principal, 'sources.input') !== 'all') return nothingUnused
    const { database, clock } = this.#options
    const place = { organizationId: principal.organizationId, sourceId: id }
    const now = clock.now()
    const [dropped, refusals, unmatched, complaints, ignored] = await Promise.all([
      droppedPostoffices(database, place.organizationId, id),
      refusedRecipients(database, place),
      unmatchedReports(database, place, now),
      domainComplaints(database, place),
      ignoredLines(database, place, now),
    ])
    return { dropped: [...dropped.values()], refusals, unmatched, complaints, ignored }
  }

  /** Replaces the secret; requests signed with the old secret are refused immediately. Throws `not_found`. */
  async rotate(principal: Principal, id: string): Promise<SourceWithSecret> {
    requireAdministration(principal, 'sources.change')
    const { database, writes, secrets } = this.#options
    const { organizationId } = principal
    return writes.runAudited(principal, 'ingest_source.rotated', async (change) => {
      const stored = await must(database, ingestSources, principal, id)
      const secret = newSecret()
      const source = { ...stored.record, sealedSecret: secrets.seal(secret, hmacSecretContext(id)) }
      change.replace(ingestSources, organizationId, stored, source)
      return { details: await this.#details(organizationId, source), secret }
    })
  }

  /** Deletes a source and its mappings; later requests with its secret are refused. Does nothing if the source is missing. */
  async revoke(principal: Principal, id: string): Promise<void> {
    requireAdministration(principal, 'sources.change')
    const { database, writes, clock } = this.#options
    const { organizationId } = principal
    await writes.runAudited(principal, 'ingest_source.revoked', async (change) => {
      const all = await database.all(ingestSources, { organizationId })
      const stored = all.find(({ record }) => record.id === id)
      if (!stored) return
      change.remove(ingestSources, organizationId, stored)
      if (stored.record.imap) change.schedule(mailboxWork, id)
      for (const mapping of await database.all(postofficeMappings, { organizationId }))
        if (mapping.record.sourceId === id) change.remove(postofficeMappings, organizationId, mapping)
      change.delete(seenKey(organizationId, id)).delete(pollKey(organizationId, id))
      forgetUnmatched(change, { organizationId, sourceId: id })
      forgetIgnored(change, { organizationId, sourceId: id })
      await recordPeakUsage({ database, change, organizationId }, 'sources', heldFrom(all.length, all.length - 1), clock.now())
    })
  }

  async #details(organizationId: string, source: IngestSource): Promise<SourceDetails> {
    const { database } = this.#options
    const [seen, poll] = await Promise.all([readSeen(database, organizationId, source.id), readPoll(database, organizationId, source.id)])
    return { source, seen, poll }
  }
}

const nothingUnused: UnusedInput = {
  ...{ dropped: [], refusals: [], complaints: [], ignored: [] },
  unmatched: { counts: { delivered: 0, deferred: 0, bounced: 0, complained: 0 }, latest: [] },
}

const heldFrom = (before: number, after: number) => ({ before: ofNoProject(before), after: ofNoProject(after) })

/** Returns 40 plain letters and digits with five random bits each, safe in every configuration file. */
function newSecret(): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(secretLength), (byte) => alphabet[byte & 31]).join('')
}
