/** The suppression list of an organization: adding, listing, changing, removing and exporting. Spec "Suppression". */
import { domainToUnicode } from 'node:url'
import { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { reachableProject } from '../../access/principal/project-choice.ts'
import { requireOrganizationRole, type Principal } from '../../access/principal/principal.ts'
import { foldAddress, parseExactAddress } from '../../addresses.ts'
import { invalid } from '../../refusals.ts'
import { listReachable, sieve, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { must, transact } from '../../writes/transact.ts'
import { addSuppressions, type AddedSuppression } from './add-suppressions.ts'
import { foldEmail, isAutomatic, suppressions, type Suppression, type SuppressionSource } from './suppression.ts'

export interface NewSuppression {
  readonly email: string
  readonly reason?: string | null | undefined
  /** That of a key that is bound to one, or none, by default. */
  readonly projectId?: string | null | undefined
  /** Milliseconds since the epoch; never by default. */
  readonly expiresAt?: number | null | undefined
}

export interface SuppressionChanges {
  readonly reason?: string | null | undefined
  readonly expiresAt?: number | null | undefined
}

/** What a list is narrowed to. Entries hold for every project; `projectId` is where they came from. */
export interface SuppressionFilter extends OfProject {
  readonly source?: SuppressionSource | undefined
  /** A part of the address, in any case; of an internationalized domain in either form. */
  readonly q?: string | undefined
  /** Milliseconds since the epoch, exclusive. */
  readonly createdAfter?: number | undefined
}

const exportPage = 500

export class Suppressions implements List<SuppressionFilter, Suppression> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Adds by hand; what is there already is answered. Throws `validation_failed` and `not_found`. */
  async add(principal: Principal, request: NewSuppression): Promise<AddedSuppression> {
    requireOrganizationRole(principal)
    const { database, policies, clock, audit } = this.#core
    const now = clock.now()
    const entry = newEntry(database, principal, (await policies.of(principal.organizationId)).projects, request, 'manual', now)
    const also = (change: Change): void => audit.recordChanges(change, principal, 'suppression.added')
    const [results] = await addSuppressions(database, principal.organizationId, [entry], now, { also })
    if (!results) throw new Error('an entry without an answer')
    return results
  }

  /** Newest first, expired ones too. A page can be short although there is more: then it has a cursor. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & SuppressionFilter): Promise<Page<Suppression>> {
    const { createdAfter = -Infinity } = query
    const chosen = sieve(passing(query), ({ createdAt }) => createdAt <= createdAfter)
    return listReachable(this.#core, suppressions, principal, query, () => ({ sieve: chosen }))
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<Suppression> {
    return (await must(this.#core.database, suppressions, principal, id)).record
  }

  /** Only what is given changes. Throws `not_found`, and `validation_failed` for an expiry that is past. */
  async update(principal: Principal, id: string, { reason, expiresAt }: SuppressionChanges): Promise<Suppression> {
    requireOrganizationRole(principal)
    const { database, clock, audit } = this.#core
    checkExpiry(expiresAt, clock.now(), 'delete the suppression to end it now')
    return transact(database, principal, async (change) => {
      const stored = await change.must(suppressions, id)
      const decided = isAutomatic(stored.record) && { isConfirmed: true as const }
      const given = { ...(reason !== undefined && { reason }), ...(expiresAt !== undefined && { expiresAt }) }
      const record = { ...stored.record, ...given, ...decided }
      change.rewrite(suppressions, principal.organizationId, stored, record)
      audit.recordChanges(change, principal, 'suppression.updated')
      return record
    })
  }

  /** Takes an entry off the list; one that is not there is none, too. */
  async remove(principal: Principal, id: string): Promise<void> {
    requireOrganizationRole(principal)
    const { database, audit } = this.#core
    await transact(database, principal, async (change) => {
      const stored = await change.get(suppressions, id)
      if (stored) change.remove(suppressions, principal.organizationId, stored)
      audit.recordChanges(change, principal, 'suppression.removed')
    })
  }

  /** Every entry that passes, oldest first, read as the caller goes on. Throws `not_found`, before anything is read. */
  async all(principal: Principal, filter: SuppressionFilter): Promise<AsyncIterable<Suppression>> {
    const { projects } = await this.#core.policies.of(principal.organizationId)
    reachableProject(principal, projects, filter.projectId, 'project')
    return this.#walk(principal, passing(filter))
  }

  async *#walk(principal: Principal, fits: (entry: Suppression) => boolean): AsyncGenerator<Suppression> {
    let cursor: string | undefined
    do {
      const page = await this.#core.database.list(suppressions, principal, { limit: exportPage, cursor, ascending: true })
      for (const { record } of page.rows) if (fits(record)) yield record
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }
}

/** An entry as it goes on the list. Throws `validation_failed` or `not_found`, naming the field. */
export function newEntry(
  database: Database,
  principal: Principal,
  projects: ReadonlyMap<string, unknown>,
  { email, reason, projectId, expiresAt }: NewSuppression,
  source: SuppressionSource,
  nowMs: number,
): Suppression {
  const mailbox = parseExactAddress(email.trim())
  if (!mailbox) throw invalid([{ path: 'email', message: 'must be one address such as ada@example.ch' }])
  checkExpiry(expiresAt, nowMs, 'leave it out to suppress permanently')
  return {
    id: database.newId('sup', nowMs),
    email: foldEmail(mailbox.address),
    reason: reason ?? null,
    projectId: reachableProject(principal, projects, projectId ?? undefined, 'project_id') ?? null,
    source,
    expiresAt: expiresAt ?? null,
    createdAt: nowMs,
  }
}

function checkExpiry(expiresAt: number | null | undefined, nowMs: number, instead: string): void {
  if (expiresAt != null && expiresAt <= nowMs) throw invalid([{ path: 'expires_at', message: `must be in the future; ${instead}` }])
}

function passing({ source, projectId, q, createdAfter }: SuppressionFilter): (entry: Suppression) => boolean {
  const part = q === undefined ? undefined : foldEmail(q)
  return (entry) =>
    (source === undefined || entry.source === source) &&
    (projectId === undefined || entry.projectId === projectId) &&
    (createdAfter === undefined || entry.createdAt > createdAfter) &&
    (part === undefined || entry.email.includes(part) || asRead(entry.email).includes(part))
}

/** An internationalized domain as people write it. */
function asRead(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.includes('xn--', at) ? email.slice(0, at) + foldAddress(domainToUnicode(email.slice(at))) : email
}
