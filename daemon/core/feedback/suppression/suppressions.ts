/** The suppression list of an organization: adds, lists, changes, removes and exports entries. Spec "Suppression". */
import { domainToUnicode } from 'node:url'
import { addressProblem } from '#config/mail/address-problem.ts'
import { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import type { Core } from '../../core.ts'
import { reachableProject } from '../../access/principal/project-choice.ts'
import { requireReach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldAddress, parseExactAddress } from '../../addresses.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { listReachable, sieve, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { must, transact } from '../../writes/transact.ts'
import { addSuppressions, type AddedSuppression } from './add-suppressions.ts'
import { isReadBy, isWithin, matchSuppression, type SuppressionMatch } from './suppressed-recipients.ts'
import { foldEmail, isAutomatic, suppressions, type Suppression, type SuppressionSource } from './suppression.ts'
import { outsideProject } from '../../trace/timeline/outside-project.ts'

export interface NewSuppression {
  readonly email: string
  readonly reason?: string | null | undefined
  /** Defaults to the project of a bound key, or to no project. */
  readonly projectId?: string | null | undefined
  /** Milliseconds since the epoch; defaults to no expiry. */
  readonly expiresAt?: number | null | undefined
}

export interface SuppressionChanges {
  readonly reason?: string | null | undefined
  readonly expiresAt?: number | null | undefined
}

/** Filter of a list. Entries apply to every project; `projectId` is the project that they came from. */
export interface SuppressionFilter extends OfProject {
  readonly source?: SuppressionSource | undefined
  /** Part of the address, case-insensitive. The domain may be in its Unicode or ASCII form. */
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

  /**
   * Adds an entry manually, or returns the existing entry. If the caller may not read the existing entry, returns `entryOutside`. Throws
   * `validation_failed` and `not_found`.
   */
  async add(principal: Principal, request: NewSuppression): Promise<AddedSuppression> {
    requireReach(principal, 'suppressions.add')
    const { database, policies, clock, audit } = this.#core
    const now = clock.now()
    const entry = newEntry(database, principal, (await policies.of(principal.organizationId)).projects, request, 'manual', now)
    const also = (change: Change): void => audit.recordChanges(change, principal, 'suppression.added')
    const [results] = await addSuppressions(database, principal.organizationId, [entry], now, { also })
    if (!results) throw new Error('an entry without an answer')
    return isReadBy(principal, results.suppression) ? results : { added: false, suppression: entryOutside(entry) }
  }

  /**
   * Lists entries, newest first, including expired entries. A page can be short and still have a cursor to more entries. Throws
   * `not_found`.
   */
  list(principal: Principal, query: PageQuery & SuppressionFilter): Promise<Page<Suppression>> {
    const { createdAfter = -Infinity } = query
    const chosen = sieve(passing(principal, query), ({ createdAt }) => createdAt <= createdAfter)
    return listReachable(this.#core, suppressions, principal, query, () => ({ sieve: chosen }))
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<Suppression> {
    const { record } = await must(this.#core.database, suppressions, principal, id)
    if (isReadBy(principal, record)) return record
    throw noEntry()
  }

  /** Returns whether the address is suppressed now, with the entry if the caller may read it. Throws `validation_failed`. */
  async match(principal: Principal, address: string): Promise<SuppressionMatch> {
    requireReach(principal, 'suppressions.match')
    const { database, clock } = this.#core
    return matchSuppression(database, principal, emailOf(address, 'address'), clock.now())
  }

  /** Changes only the given fields. Throws `not_found`, and `validation_failed` for an expiry in the past. */
  async update(principal: Principal, id: string, { reason, expiresAt }: SuppressionChanges): Promise<Suppression> {
    const reach = requireReach(principal, 'suppressions.change')
    const { database, clock, audit } = this.#core
    checkExpiry(expiresAt, clock.now(), 'delete the suppression to end it now')
    return transact(database, principal, async (change) => {
      const stored = await change.must(suppressions, id)
      if (!isWithin(reach, principal, stored.record)) throw noEntry()
      const decided = isAutomatic(stored.record) && { isConfirmed: true as const }
      const given = { ...(reason !== undefined && { reason }), ...(expiresAt !== undefined && { expiresAt }) }
      const record = { ...stored.record, ...given, ...decided }
      change.rewrite(suppressions, principal.organizationId, stored, record)
      audit.recordChanges(change, principal, 'suppression.updated')
      return record
    })
  }

  /** Removes an entry. Does nothing if the entry is missing or the caller may not change it. */
  async remove(principal: Principal, id: string): Promise<void> {
    const reach = requireReach(principal, 'suppressions.change')
    const { database, audit } = this.#core
    await transact(database, principal, async (change) => {
      const stored = await change.get(suppressions, id)
      if (stored && isWithin(reach, principal, stored.record)) change.remove(suppressions, principal.organizationId, stored)
      audit.recordChanges(change, principal, 'suppression.removed')
    })
  }

  /** Returns every matching entry, oldest first, and reads pages as the caller iterates. Throws `not_found` before the first read. */
  async all(principal: Principal, filter: SuppressionFilter): Promise<AsyncIterable<Suppression>> {
    const { projects } = await this.#core.policies.of(principal.organizationId)
    reachableProject(principal, projects, filter.projectId, 'project')
    return this.#walk(principal, passing(principal, filter))
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

/** Returns a new entry. Throws `validation_failed` or `not_found` with the name of the field. */
export function newEntry(
  database: Database,
  principal: Principal,
  projects: ReadonlyMap<string, unknown>,
  { email, reason, projectId, expiresAt }: NewSuppression,
  source: SuppressionSource,
  nowMs: number,
): Suppression {
  const address = emailOf(email, 'email')
  checkExpiry(expiresAt, nowMs, 'leave it out to suppress permanently')
  return {
    id: database.newId('sup', nowMs),
    email: address,
    reason: reason ?? null,
    projectId: reachableProject(principal, projects, projectId ?? undefined, 'project_id') ?? null,
    source,
    expiresAt: expiresAt ?? null,
    createdAt: nowMs,
  }
}

/** Returns the stored form of an address. Throws `validation_failed`. */
function emailOf(text: string, path: string): string {
  const mailbox = parseExactAddress(text)
  if (mailbox) return foldEmail(mailbox.address)
  throw invalid([{ path, message: addressProblem(text) ?? 'must be one address such as ada@example.ch' }])
}

/** Returns a placeholder for an entry outside the caller's project. It reveals only that the address is suppressed. */
const entryOutside = ({ email, createdAt }: Suppression): Suppression => ({
  ...{ id: outsideProject, email, reason: null, projectId: null, source: 'manual', expiresAt: null, createdAt },
})

const noEntry = (): Refusal => new Refusal('not_found', 'No suppression has this id.')

function checkExpiry(expiresAt: number | null | undefined, nowMs: number, instead: string): void {
  if (expiresAt != null && expiresAt <= nowMs) throw invalid([{ path: 'expires_at', message: `must be in the future; ${instead}` }])
}

function passing(principal: Principal, { source, projectId, q, createdAfter }: SuppressionFilter): (entry: Suppression) => boolean {
  const part = q === undefined ? undefined : foldEmail(q)
  return (entry) =>
    isReadBy(principal, entry) &&
    (source === undefined || entry.source === source) &&
    (projectId === undefined || entry.projectId === projectId) &&
    (createdAfter === undefined || entry.createdAt > createdAfter) &&
    (part === undefined || entry.email.includes(part) || asRead(entry.email).includes(part))
}

/** Returns the address with its domain in Unicode form. */
function asRead(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.includes('xn--', at) ? email.slice(0, at) + foldAddress(domainToUnicode(email.slice(at))) : email
}
