/** One look at an organization: reads counts and settings of some projects, evaluates the conditions, and settles their findings. */
import type { Core } from '../core.ts'
import { findings, nameOf, type Finding } from '../findings/finding.ts'
import type { Settle } from '../findings/settle.ts'
import { rolledTo, type RolledTo } from '../insights/rows.ts'
import type { Destination } from '../routing/destination.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { organizations, type Project } from '../tenancy/organization.ts'
import { isObserved, isUndecided, type Condition } from './condition.ts'
import { mailConditions } from './conditions/mail.ts'
import { receiverConditions } from './conditions/receivers.ts'
import { destinationConditions, routeConditions } from './conditions/routes.ts'
import { readReceivers } from './reading/receivers.ts'
import { periodsAt, readSteps } from './reading/steps.ts'

export interface LookOptions extends Core {
  readonly settle: Pick<Settle, 'settle'>
}

/** When to look again without new counts, and at which projects. */
export interface NextLook {
  readonly at: number
  readonly projects: ReadonlySet<string>
}

/** Name of the check in findings. */
export const watchCheck = 'watch'
/** Interval of looks at an organization with new counts or open findings. */
export const everyMs = 30_000
/** Maximum number of open findings of an organization that a look reads. */
const maxOpen = 1000

/** Facts for the conditions of one organization. */
interface Seen {
  readonly policy: Policy
  readonly now: number
  readonly rolled: RolledTo
  readonly open: readonly Finding[]
}

export class Looks {
  readonly #options: LookOptions

  constructor(options: LookOptions) {
    this.#options = options
  }

  /** Looks at these projects and at those with open findings. Returns undefined if only new counts can change the result. */
  async look(organizationId: string, counted: ReadonlySet<string>): Promise<NextLook | undefined> {
    const { database, clock, policies, settle } = this.#options
    if (organizationId === systemOrganizationId) return undefined // its operator has the checks of the doctor
    if (!(await database.get(organizations, { organizationId }, organizationId))) return undefined
    const policy = await policies.of(organizationId)
    if (policy.organization.deletedAt !== undefined) return undefined
    const [open, rolled, now] = [await this.#open(organizationId), await rolledTo(database), clock.now()]
    const seen: Seen = { policy, now, rolled, open }
    const looked = new Set([...counted, ...open.map(({ projectId }) => projectId)])
    const conditions: Condition[] = []
    for (const id of looked) {
      const project = policy.projects.get(id)
      if (project) conditions.push(...(await this.#ofProject(organizationId, project, seen)))
    }
    const observed = conditions.filter(isObserved)
    const undecided = conditions.filter(isUndecided)
    const kept = new Set(undecided.map(nameOf))
    const coversFinding = (finding: Finding): boolean =>
      !kept.has(nameOf(finding)) && (looked.has(finding.projectId) || !policy.projects.has(finding.projectId))
    const isNeeded = observed.length > 0 || open.length > 0
    const remain = isNeeded && (await settle.settle({ organizationId, check: watchCheck, observed, coversFinding }))
    const decidedAt = Math.min(...undecided.map(({ decidedAt: at }) => at ?? Infinity))
    const at = remain ? now + everyMs : decidedAt
    return at === Infinity ? undefined : { at, projects: looked }
  }

  async #ofProject(organizationId: string, project: Project, { policy, now, rolled, open }: Seen): Promise<readonly Condition[]> {
    const { database } = this.#options
    const periods = periodsAt(now)
    const steps = await readSteps(database, { organizationId, projectId: project.id }, periods, now, rolled)
    const figures = { project, steps, periods }
    const destinations = destinationsOf(policy, project.id)
    const endpoints = policy.webhooks.get(project.id) ?? []
    const receivers = await readReceivers(database, organizationId, { project, steps, endpoints, open })
    return [
      ...routeConditions(figures, destinations),
      ...destinationConditions(figures, destinations),
      ...mailConditions(figures),
      ...receiverConditions(receivers, steps, now),
    ]
  }

  async #open(organizationId: string): Promise<readonly Finding[]> {
    const { rows } = await this.#options.database.list(
      findings,
      { organizationId },
      { index: 'check', values: [watchCheck], limit: maxOpen, forWork: true },
    )
    return rows.map(({ record }) => record)
  }
}

/** Returns the destinations that mail of the project can use. */
const destinationsOf = ({ destinations }: Policy, projectId: string): readonly Destination[] =>
  [...destinations.values()].filter((one) => one.projectId === projectId || one.shared !== undefined)
