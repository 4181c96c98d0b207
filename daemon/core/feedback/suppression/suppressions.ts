/** The suppression list of an organization: adding, listing, changing, removing and exporting. Spec "Suppression". */
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
import { outsideProject } from '../../trace/story/outside-project.ts'

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

  /**
   * Adds by hand; returns the entry that is there already. Of one that the caller may not read it returns `entryOutside`.
   * Throws `validation_failed` and `not_found`.
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

  /** Newest first, expired ones too. A page can be short although there is more: then it has a cursor. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & SuppressionFilter): Promise<Page<Suppression>> {
    const { createdAfter = -Infinity } = query
    const chosen = sieve(passing(principal, query), ({ createdAt }) => createdAt <= createdAfter)
    return listReachable(this.#core, suppressions, principal, query, () => ({ sieve: chosen }))
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<Suppression> {
    const { record } = await must(this.#core.database, suppressions, principal, id)
    if (isReadBy(principal, record)) return record
    throw noEntry()
  }

  /** Whether the address gets no mail now, and why if the caller may read the entry. Throws `validation_failed`. */
  async match(principal: Principal, address: string): Promise<SuppressionMatch> {
    requireReach(principal, 'suppressions.match')
    const { database, clock } = this.#core
    return matchSuppression(database, principal, emailOf(address, 'address'), clock.now())
  }

  /** Only what is given changes. Throws `not_found`, and `validation_failed` for an expiry that is past. */
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

  /** Takes an entry off the list. Does nothing for an entry that is missing or that the caller may not change. */
  async remove(principal: Principal, id: string): Promise<void> {
    const reach = requireReach(principal, 'suppressions.change')
    const { database, audit } = this.#core
    await transact(database, principal, async (change) => {
      const stored = await change.get(suppressions, id)
      if (stored && isWithin(reach, principal, stored.record)) change.remove(suppressions, principal.organizationId, stored)
      audit.recordChanges(change, principal, 'suppression.removed')
    })
  }

  /** Every entry that passes, oldest first, read as the caller goes on. Throws `not_found`, before anything is read. */
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

/** An entry as it goes on the list. Throws `validation_failed` or `not_found`, naming the field. */
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

/** In the form of the list. Throws `validation_failed`. */
function emailOf(text: string, path: string): string {
  const mailbox = parseExactAddress(text)
  if (mailbox) return foldEmail(mailbox.address)
  throw invalid([{ path, message: addressProblem(text) ?? 'must be one address such as ada@example.ch' }])
}

/** Stands for an entry outside the project of the caller: it says that the address is suppressed, and nothing else. */
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

/** An internationalized domain as people write it. */
function asRead(email: string): string {
  const at = email.lastIndexOf('@') + 1
  return email.includes('xn--', at) ? email.slice(0, at) + foldAddress(domainToUnicode(email.slice(at))) : email
}
