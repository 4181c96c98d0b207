/** Audit log of an organization, filtered by actor, action and target. */
import type { Page } from '#store/database.ts'
import { listReachable, sieve, type List, type ListParts, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import type { Principal } from '../access/principal/principal.ts'
import { auditEntries, type AuditEntry } from '../writes/audit.ts'

/** Conditions of the list; an entry must satisfy all of them. */
export interface AuditFilter extends OfProject {
  /** Id of the key or user. */
  readonly actor?: string | undefined
  /** A noun such as `destination`, or an action such as `destination.created`. */
  readonly act?: string | undefined
  /** Id of the affected resource. */
  readonly target?: string | undefined
  /** Milliseconds since the epoch; `since` is inclusive, `until` exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export class AuditLog implements List<AuditFilter, AuditEntry> {
  readonly #options: ListParts

  constructor(options: ListParts) {
    this.#options = options
  }

  /** Lists entries, newest first. A page can be short although more entries follow; it then has a cursor. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & AuditFilter): Promise<Page<AuditEntry>> {
    const { since = -Infinity } = query
    // entries about a deleted project remain in the log of its organization
    const reach: Principal = { ...principal, hiddenProjects: undefined }
    const chosen = sieve(
      (entry: AuditEntry) => passes(entry, query),
      ({ at }) => at < since,
    )
    return listReachable(this.#options, auditEntries, reach, query, () => ({ sieve: chosen }))
  }
}

const passes = (entry: AuditEntry, { actor, act, target, until = Infinity }: AuditFilter): boolean =>
  (actor === undefined || entry.actor.id === actor) &&
  (act === undefined || entry.act === act || entry.act.startsWith(`${act}.`)) &&
  (target === undefined || entry.target === target) &&
  entry.at < until
