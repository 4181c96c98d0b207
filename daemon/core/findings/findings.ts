/** Findings of an organization for its members, and marks of people: acknowledged, muted. */
import type { Page } from '#store/database.ts'
import { reachOf, requireReach, type OrganizationActName } from '../access/principal/organization-acts.ts'
import { listReachable, sieve, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { invalid, Refusal } from '../refusals.ts'
import { actorOf } from '../writes/audit.ts'
import { must, transact, type Transaction } from '../writes/transact.ts'
import { findings, rankOf, type Finding, type FindingState } from './finding.ts'
import { factsOf, type FindingGroup, type Severity } from './kinds.ts'

export interface FindingFilter extends OfProject {
  /** Defaults to `open`. */
  readonly state?: FindingState | undefined
  readonly severity?: Severity | undefined
  readonly group?: FindingGroup | undefined
}

/** Maximum time for which a finding can be muted. */
export const maxMuteMs = 30 * 86_400_000
/** Maximum number of findings examined per page. */
const maxLooks = 1000

/** Access to the resources that findings of the whole organization are about; the access to other findings is `findings.read`. */
const actsByGroup: Partial<Record<FindingGroup, OrganizationActName>> = { quota: 'billing.read', security: 'keys.read' }

/** Whether the caller may read the finding. Never for findings of the service. The role billing reads limits and invoices only. */
function mayRead(principal: Principal, { kind, projectId }: Finding): boolean {
  const { group, audience } = factsOf(kind)
  if (audience === 'operator') return false
  if (projectId !== '' && !principal.billsOnly) return true
  return reachOf(principal, actsByGroup[group] ?? 'findings.read') !== 'none'
}

export class Findings implements List<FindingFilter, Finding> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Lists findings, errors first, then newest first. With a project, findings of the whole organization are included. */
  async list(principal: Principal, { state = 'open', severity, group, ...query }: PageQuery & FindingFilter): Promise<Page<Finding>> {
    return listReachable(this.#core, findings, principal, query, (project) => {
      const isMeant = (finding: Finding): boolean =>
        (project === undefined || finding.projectId === '' || finding.projectId === project) &&
        (group === undefined || factsOf(finding.kind).group === group) &&
        mayRead(principal, finding)
      return {
        ...{ index: 'listed', values: severity === undefined ? [state] : [state, rankOf(severity)] },
        sieve: sieve(isMeant, undefined, maxLooks),
      }
    })
  }

  /** Throws `not_found` for missing and foreign ids, and for findings that the caller may not read. */
  async get(principal: Principal, id: string): Promise<Finding> {
    return readable(principal, (await must(this.#core.database, findings, principal, id)).record)
  }

  /** Records that a person knows of the finding; escalations then stay away. Acknowledging it again keeps the first mark. */
  acknowledge(principal: Principal, id: string): Promise<Finding> {
    return this.#mark(principal, id, 'finding.acknowledged', (finding, now) =>
      finding.acknowledged ? finding : { ...finding, acknowledged: { by: actorOf(principal).id, at: now } },
    )
  }

  /** Alerts do not repeat the finding before `until`; null ends this. Throws `validation_failed` for a time that is past or too far. */
  mute(principal: Principal, id: string, until: number | null): Promise<Finding> {
    const now = this.#core.clock.now()
    if (until !== null && (until <= now || until > now + maxMuteMs))
      throw invalid([{ path: 'until', message: 'must be a time within the next 30 days, or null' }])
    return this.#mark(principal, id, 'finding.muted', (finding) =>
      finding.mutedUntil === until ? finding : { ...finding, mutedUntil: until },
    )
  }

  #mark(principal: Principal, id: string, act: string, next: (finding: Finding, now: number) => Finding): Promise<Finding> {
    const { database, clock, audit } = this.#core
    const { organizationId } = principal
    return transact(database, principal, async (change: Transaction) => {
      const stored = await change.must(findings, id)
      if (readable(principal, stored.record).projectId === '') requireReach(principal, 'findings.mark')
      const marked = next(stored.record, clock.now())
      if (marked === stored.record) return marked
      change.rewrite(findings, organizationId, stored, marked)
      audit.record(change, {
        ...{ organizationId, actor: actorOf(principal), act, target: id },
        ...{ projectId: marked.projectId || undefined, details: { kind: marked.kind, subject: marked.subject } },
      })
      return marked
    })
  }
}

function readable(principal: Principal, finding: Finding): Finding {
  if (mayRead(principal, finding)) return finding
  throw new Refusal('not_found', 'No finding has this id.')
}
