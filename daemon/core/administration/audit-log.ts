/** The audit log as its organization reads it: acts by who did them, what they were and what they were about. */
import type { Page } from '#store/database.ts'
import { listReachable, sieve, type List, type ListParts, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import type { Principal } from '../access/principal/principal.ts'
import { auditEntries, type AuditEntry } from '../writes/audit.ts'

/** What a list of acts is narrowed to; each condition narrows. */
export interface AuditFilter extends OfProject {
  /** Id of the key or person. */
  readonly actor?: string | undefined
  /** A noun such as `destination`, or one act of it such as `destination.created`. */
  readonly act?: string | undefined
  /** Id of what was acted on. */
  readonly target?: string | undefined
  /** Milliseconds since the epoch, inclusive and exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export class AuditLog implements List<AuditFilter, AuditEntry> {
  readonly #options: ListParts

  constructor(options: ListParts) {
    this.#options = options
  }

  /** Newest first. A page can be short although there is more: then it has a cursor. Throws `not_found`. */
  list(principal: Principal, query: PageQuery & AuditFilter): Promise<Page<AuditEntry>> {
    const { since = -Infinity } = query
    // acts on a deleted project stay in the log of its organization
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
