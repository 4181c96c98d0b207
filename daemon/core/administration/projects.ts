/** Projects: reads their state and use, and creates, changes and deletes them. Spec "Project rules", "project state". */
import type { PlanName } from '#config/plans/plans.ts'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { claimProgress, claims, type ClaimProgress } from '../claims/claim.ts'
import { pageOfLoaded, type List, type PageQuery, byId } from '../access/principal/lists.ts'
import { reachableProject, requireEnvironment } from '../access/principal/project-choice.ts'
import { refuseOwnApproval } from '../access/principal/agent-approval.ts'
import type { Principal } from '../access/principal/principal.ts'
import { requireFlag } from '../plan/features.ts'
import { limitsOf, requireIncluded } from '../plan/limits.ts'
import { heldBy } from '../plan/by-project.ts'
import { recordPeakUsage } from '../plan/peak-usage.ts'
import { invalid, Refusal } from '../refusals.ts'
import { destinations } from '../routing/destination.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { refuseWhileNamed } from '../routing/policy/references.ts'
import { captureCounter, dayOf, monthOf, organizationSendCounter, sendCounter } from '../tenancy/counters.ts'
import { captureCapOf, projects, type NoRoutePolicy, type Project, type SendApprovalPolicy } from '../tenancy/organization.ts'
import { insertProject } from '../beginnings/new-project.ts'
import { refuseWhileQueued } from './queued-mail.ts'
import { awaitingByProject } from '../trace/approval/asked.ts'
import { projectRemovalKey } from '../tenancy/removal-key.ts'

export interface ProjectOptions extends Core {
  /** Called after projects were deleted, to abort their attempts and to remove their data. */
  readonly onDeleted: (organizationId: string, projectIds: ReadonlySet<string>) => Promise<void>
}

/** The project of a key, with the current use of its limits. */
export interface ProjectState {
  readonly project: Project
  readonly plan: PlanName
  /** Sends of the whole organization on this UTC day, because the cap applies to the organization. */
  readonly sendsToday: number
  /** Sends of the project on this UTC day, as counted against its budget. */
  readonly projectSendsToday: number
  /** Null for no cap. */
  readonly sendsCap: number | null
  readonly capturesThisMonth: number
  /** Null for no cap. */
  readonly capturesCap: number | null
  readonly claim: ClaimProgress
}

/** A project in a list. */
export interface ProjectView {
  readonly project: Project
  /** Ids of its partitions, newest first. */
  readonly subProjectIds: readonly string[]
  /** Sends of the project on this UTC day, without its partitions. */
  readonly projectSendsToday: number
  readonly capturesThisMonth: number
  /** Null for no cap. */
  readonly capturesCap: number | null
  /** Messages of agents that currently wait for a member's approval. */
  readonly approvalsWaiting: number
}

/** Omitted fields keep their values. */
export interface ProjectChanges {
  readonly name?: string | undefined
  readonly noRoutePolicy?: NoRoutePolicy | undefined
  /** Environment for mail that matches no routing rule; null uses the organization's default sender. */
  readonly environment?: string | null | undefined
  readonly agentSendApproval?: SendApprovalPolicy | undefined
  /** Sends per day; null for no budget. */
  readonly sendBudget?: number | null | undefined
  /** Captures per month; null for the plan's limit. */
  readonly monthlyCaptureCap?: number | null | undefined
}

export interface NewProject extends ProjectChanges {
  readonly name: string
  /** Creates a partition of this project. */
  readonly parentId?: string | undefined
}

export interface ProjectFilter {
  /** Id of a project; returns only its partitions. */
  readonly parentId?: string | undefined
}

export class Projects implements List<ProjectFilter, ProjectView> {
  readonly #options: ProjectOptions

  constructor(options: ProjectOptions) {
    this.#options = options
  }

  /** Returns the project of the principal. */
  async me(principal: Principal): Promise<ProjectState> {
    const { organizationId, projectId, holder } = principal
    const { database, clock } = this.#options
    const policy = await this.#options.policies.of(organizationId)
    const project = policy.projects.get(projectId)
    if (!project) throw new Refusal('not_found', 'The project of this key no longer exists.')
    const [day, month] = [dayOf(clock.now()), monthOf(clock.now())]
    const counters = [
      organizationSendCounter(organizationId, day),
      sendCounter(organizationId, projectId, day),
      captureCounter(organizationId, projectId, month),
    ]
    const [sendsToday = 0, projectSendsToday = 0, capturesThisMonth = 0] = await database.kv.counters(counters.map(pack))
    const claim = (await database.get(claims, { organizationId }, organizationId))?.record
    const holderId = holder?.kind === 'user' ? holder.userId : null
    return {
      project,
      claim: claimProgress(project.status === 'claimed', claim?.projectId === projectId ? claim : undefined, holderId, clock.now()),
      plan: policy.organization.plan,
      sendsToday,
      projectSendsToday,
      sendsCap: limitsOf(policy.organization).sendsPerDay ?? null,
      capturesThisMonth,
      capturesCap: captureCapOf(project, policy.organization) ?? null,
    }
  }

  /** Sets the policy for sends that match no destination. Spec "Relay or capture decision" 4. */
  async setNoRoutePolicy(principal: Principal, noRoutePolicy: NoRoutePolicy): Promise<ProjectState> {
    await this.update(principal, principal.projectId, { noRoutePolicy })
    return this.me(principal)
  }

  /** Newest first. A key of one project sees it and its partitions. */
  async list(principal: Principal, { parentId, ...query }: PageQuery & ProjectFilter): Promise<Page<ProjectView>> {
    const policy = await this.#options.policies.of(principal.organizationId)
    if (parentId !== undefined) reachableProject(principal, policy.projects, parentId, 'parent_id')
    const all = newestFirst(policy).filter(
      (project) => isReachable(principal, project) && (parentId === undefined || project.parentId === parentId),
    )
    const { rows, nextCursor } = pageOfLoaded(projects, principal, all, query, { ...byId, descending: true })
    return { rows: await this.#views(policy, rows), nextCursor }
  }

  /** Throws the same `not_found` for missing, foreign and inaccessible ids. */
  async get(principal: Principal, id: string): Promise<ProjectView> {
    const policy = await this.#options.policies.of(principal.organizationId)
    return this.#view(policy, find(principal, policy, id))
  }

  /** Returns projects in the order of `ids`, undefined where `get` throws. Needs as few reads as a single project. */
  async getMany(principal: Principal, ids: readonly string[]): Promise<readonly (ProjectView | undefined)[]> {
    const policy = await this.#options.policies.of(principal.organizationId)
    const all = ids.flatMap((id) => policy.projects.get(id) ?? []).filter((project) => isReachable(principal, project))
    const views = new Map((await this.#views(policy, all)).map((view) => [view.project.id, view]))
    return ids.map((id) => views.get(id))
  }

  /** Creates a project with its catch-all inbox. Throws `feature_disabled` for a partition if the plan includes no partitions. */
  async create(principal: Principal, { name, parentId, ...changes }: NewProject): Promise<ProjectView> {
    const { database, writes, policies, clock } = this.#options
    const { organizationId } = principal
    refuseOwnApproval(principal, changes)
    const { id } = await writes.runAudited(principal, 'project.created', async (change) => {
      const policy = await policies.of(organizationId)
      const parent = parentId === undefined ? undefined : parentOf(principal, policy, parentId)
      if (!parent && principal.bound)
        throw new Refusal(
          'insufficient_scope',
          'A key of one project can create only partitions of it; give parent_id, or use a key of the organization.',
          { nextAction: 'use_key_of_organization' },
        )
      const { status } = parent ?? policy.projects.get(policy.organization.defaultProjectId) ?? { status: 'anonymous' }
      if (changes.environment != null) requireEnvironment(policy.destinations, '', changes.environment)
      const given = { ...checked(policy, changes), name, ...(parent && { parentId: parent.id }), isDefault: false, status }
      return insertProject(database, change, organizationId, given, clock.now())
    })
    return this.get(principal, id)
  }

  /**
   * Changes the given fields only. Budget, cap and approval can be set by keys of the organization or of the parent, not by keys of the
   * project itself.
   */
  async update(principal: Principal, id: string, changes: ProjectChanges): Promise<ProjectView> {
    const { writes, policies } = this.#options
    refuseOwnApproval(principal, changes)
    await writes.runAudited(principal, 'project.updated', async (change) => {
      const policy = await policies.of(principal.organizationId)
      const project = find(principal, policy, id)
      if (project.parentId !== undefined) requireFlag(policy.organization, 'tenant_partitions')
      const limits = [changes.sendBudget, changes.monthlyCaptureCap, changes.agentSendApproval]
      if (limits.some((limit) => limit !== undefined)) requireAbove(principal, id)
      if (changes.environment != null) requireEnvironment(policy.destinations, id, changes.environment)
      const stored = await this.#stored(principal, id)
      const given = checked(policy, changes)
      const isSame = Object.entries(given).every(([field, value]) => stored.record[field as keyof Project] === value)
      if (!isSame) change.replace(projects, principal.organizationId, stored, { ...stored.record, ...given })
    })
    return this.get(principal, id)
  }

  /**
   * Deletes the project and its partitions in one write. Their mail is no longer sent, and their data is hidden and removed in the
   * background. Organization-wide destinations of the project move to the project Default. Throws `conflict` for the project Default, and
   * while other projects use its destinations. Also throws `conflict` while mail is queued, unless `discardQueued`.
   */
  async remove(principal: Principal, id: string, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    const { database, writes, policies, clock, onDeleted } = this.#options
    const { organizationId } = principal
    const ids = await writes.runAudited(principal, 'project.deleted', async (change) => {
      const policy = await policies.of(organizationId)
      const project = find(principal, policy, id)
      requireAbove(principal, id)
      if (project.isDefault) throw new Refusal('conflict', 'The project Default of an organization cannot be deleted.')
      const meant = new Set([id, ...partitionsOf(policy, id)])
      for (const one of policy.destinations.values())
        if (one.shared === undefined && meant.has(one.projectId)) refuseWhileNamed(policy, one.id, { than: meant })
      if (!discardQueued) await refuseWhileQueued({ database, change, nowMs: clock.now(), what: 'project' }, policy, meant)
      await this.#markDeleted(change, principal, policy, meant)
      return meant
    })
    await onDeleted(organizationId, ids)
  }

  async #markDeleted(change: Change, principal: Principal, policy: Policy, ids: ReadonlySet<string>): Promise<void> {
    const { database, clock } = this.#options
    const { organizationId } = principal
    const deletedAt = clock.now()
    for (const id of ids) {
      const stored = await this.#stored(principal, id)
      change.replace(projects, organizationId, stored, { ...stored.record, deletedAt })
      change.set(projectRemovalKey(deletedAt, organizationId, id))
    }
    for (const { id, projectId, shared, updatedAt } of policy.destinations.values()) {
      const stored = shared !== undefined && ids.has(projectId) ? await database.get(destinations, { organizationId }, id) : undefined
      if (!stored) continue
      const home = { projectId: policy.organization.defaultProjectId, updatedAt: Math.max(deletedAt, updatedAt + 1) }
      change.replace(destinations, organizationId, stored, { ...stored.record, ...home })
    }
    const all = [...policy.credentials.values()]
    const alive = { before: heldBy(all), after: heldBy(all.filter(({ projectId }) => !ids.has(projectId))) }
    if (alive.after.count < alive.before.count)
      await recordPeakUsage({ database, change, organizationId }, 'smtp_credentials', alive, deletedAt)
  }

  async #view(policy: Policy, project: Project): Promise<ProjectView> {
    const [view] = await this.#views(policy, [project])
    if (!view) throw noProject()
    return view
  }

  /** Needs two reads, regardless of the number of projects. */
  async #views(policy: Policy, all: readonly Project[]): Promise<readonly ProjectView[]> {
    if (all.length === 0) return []
    const { database, clock } = this.#options
    const { organization } = policy
    const [day, month] = [dayOf(clock.now()), monthOf(clock.now())]
    const counters = all.flatMap(({ id }) => [sendCounter(organization.id, id, day), captureCounter(organization.id, id, month)])
    const [only, ...others] = all
    const [counts, waiting] = await Promise.all([
      database.kv.counters(counters.map(pack)),
      awaitingByProject(database, organization.id, others.length === 0 ? only?.id : undefined),
    ])
    const subProjects = partitionsByParent(policy)
    return all.map((project, i) => ({
      project,
      subProjectIds: subProjects.get(project.id) ?? [],
      projectSendsToday: counts[2 * i] ?? 0,
      capturesThisMonth: counts[2 * i + 1] ?? 0,
      capturesCap: captureCapOf(project, organization) ?? null,
      approvalsWaiting: waiting.get(project.id) ?? 0,
    }))
  }

  async #stored({ organizationId }: Principal, id: string): Promise<Stored<Project>> {
    const stored = await this.#options.database.get(projects, { organizationId }, id)
    if (!stored) throw noProject()
    return stored
  }
}

const noProject = (): Refusal => new Refusal('not_found', 'No project has this id.')

const newestFirst = ({ projects: all }: Policy): Project[] => [...all.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))

const partitionsOf = (policy: Policy, id: string): string[] => newestFirst(policy).flatMap((one) => (one.parentId === id ? [one.id] : []))

/** Newest first within each parent. */
function partitionsByParent(policy: Policy): ReadonlyMap<string, readonly string[]> {
  const byParent = new Map<string, string[]>()
  for (const { id, parentId } of newestFirst(policy)) {
    if (parentId === undefined) continue
    const siblings = byParent.get(parentId)
    if (siblings) siblings.push(id)
    else byParent.set(parentId, [id])
  }
  return byParent
}

const isReachable = (principal: Principal, { id, parentId }: Project): boolean =>
  !principal.bound || id === principal.projectId || parentId === principal.projectId

function find(principal: Principal, policy: Policy, id: string): Project {
  const project = policy.projects.get(id)
  if (!project || !isReachable(principal, project)) throw noProject()
  return project
}

/** Refuses keys of the project itself, because the limits apply to them. */
function requireAbove(principal: Principal, id: string): void {
  if (!principal.bound || id !== principal.projectId) return
  const message =
    'A key of a project cannot set its limits or approval, or delete it; use a key of the organization or of the parent project.'
  throw new Refusal('insufficient_scope', message)
}

function parentOf(principal: Principal, policy: Policy, parentId: string): Project {
  const parent = policy.projects.get(reachableProject(principal, policy.projects, parentId, 'parent_id') ?? '')
  if (!parent) throw noProject()
  if (parent.parentId !== undefined)
    throw invalid([{ path: 'parent_id', message: 'is a partition, and a partition cannot have partitions' }])
  const { organization } = policy
  requireFlag(organization, 'tenant_partitions')
  requireIncluded(organization, 'subProjects', { lacks: 'has no partitions of projects' })
  return parent
}

/** Returns the given changes. Throws `quota_exhausted` for a cap above that of the plan. */
function checked({ organization }: Policy, changes: ProjectChanges): Partial<Project> {
  const { monthlyCaptureCap: cap } = changes
  const most = limitsOf(organization).capturesPerMonth
  if (cap != null && most !== undefined && cap > most)
    throw new Refusal(
      'quota_exhausted',
      `The plan ${organization.plan} allows ${most} captures per project and month; give at most that, or raise the plan.`,
    )
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}
