/**
 * Runs stored traces through changed settings: other rules, another failover chain, another budget. Decides as a real send does, and writes
 * nothing.
 */
import type { Database } from '#store/database.ts'
import { CursorInvalid } from '#store/cursor.ts'
import * as z from 'zod'
import type { PlanName } from '#config/plans/plans.ts'
import type { Core } from '../../core.ts'
import { listed, sieve, type PageQuery } from '../../access/principal/lists.ts'
import { owningProject, reachableDestination } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { FailoverHealth } from '../../delivery/attempt/failover.ts'
import { invalid } from '../../refusals.ts'
import { Failovers } from '../../routing/failover-policy.ts'
import { orderRules } from '../../routing/match/match.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { projectOfFailover, type FailoverRequest } from '../../routing/rules/failover-policies.ts'
import { newRule, type NewRule } from '../../routing/rules/rules.ts'
import type { Project } from '../../tenancy/organization.ts'
import { traceList } from '../../trace/trace-walk.ts'
import type { Trace } from '../../trace/trace.ts'
import { CountedAlong, nothingCounted, type Counts } from './counted-along.ts'
import type { Simulate, TraceSimulation } from './simulate.ts'

export interface WhatIfOptions extends Core {
  readonly simulate: Pick<Simulate, 'again'>
  readonly health: FailoverHealth
}

/** Changed settings. Omitted fields keep their current value. */
export interface WhatIfRequest extends PageQuery {
  readonly projectId?: string | undefined
  /** Milliseconds since the epoch; `since` is inclusive, `until` exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Additional rules of the project. */
  readonly rules: readonly Omit<NewRule, 'projectId'>[]
  readonly withoutRuleIds: readonly string[]
  readonly failover?: Omit<FailoverRequest, 'projectId'> | undefined
  /** Destinations treated as down, as with an open circuit breaker. */
  readonly downIds: readonly string[]
  readonly sendBudget?: number | null | undefined
  readonly monthlyCaptureCap?: number | null | undefined
  /** Plan of the organization; its individual terms still apply. */
  readonly plan?: PlanName | undefined
  readonly noRoutePolicy?: Project['noRoutePolicy'] | undefined
}

/** Traces, oldest first, each with its simulated result. */
export interface WhatIfPage {
  readonly rows: readonly TraceSimulation[]
  readonly nextCursor: string | undefined
}

const defaultDays = 7
const maxLooks = 2000
const downMs = 60_000
const dayMs = 86_400_000

export class WhatIf {
  readonly #options: WhatIfOptions

  constructor(options: WhatIfOptions) {
    this.#options = options
  }

  /** Throws `validation_failed` for invalid settings, `not_found` for a project that the caller cannot access, and `CursorInvalid`. */
  async page(principal: Principal, request: WhatIfRequest): Promise<WhatIfPage> {
    const { database, policies, clock } = this.#options
    const now = clock.now()
    const current = await policies.of(principal.organizationId)
    const projectId = owningProject(principal, current.projects, request.projectId)
    const { reach } = await listed(this.#options, principal, projectId)
    const policy = changed(database, current, principal, projectId, request, now)
    const { inner, counts } = readCursor(request.cursor)
    const { since = now - defaultDays * dayMs, until = Infinity, limit } = request
    const chosen = sieve<Trace>(
      ({ outcome }) => outcome !== 'refused',
      ({ createdAt }) => createdAt >= until,
      maxLooks,
    )
    const page = await traceList(database, reach, { projectId, ascending: true, since, limit, cursor: inner }, chosen)
    const traces = page.rows.map(({ record }) => record)
    const run = new Run(this.#options, principal, policy, this.#health(request.downIds), counts)
    const rows: TraceSimulation[] = []
    for (const trace of traces) rows.push(await run.of(trace))
    return { rows, nextCursor: page.nextCursor === undefined ? undefined : cursorOf(page.nextCursor, run.along.counts) }
  }

  #health(downIds: readonly string[]): FailoverHealth {
    const { health } = this.#options
    const down = new Set(downIds)
    return {
      restMs: (destination) => (down.has(destination.id) ? downMs : health.restMs(destination)),
      throttledMs: (id) => health.throttledMs(id),
      recentP95Ms: (id) => health.recentP95Ms(id),
    }
  }
}

/** Simulates one page in order. Counts the limits whose counters contain sends of the project and its credentials. */
class Run {
  readonly #options: WhatIfOptions
  readonly #principal: Principal
  readonly #policy: Policy
  readonly #health: FailoverHealth
  readonly along: CountedAlong

  constructor(options: WhatIfOptions, principal: Principal, policy: Policy, health: FailoverHealth, counts: Counts) {
    this.#options = options
    this.#principal = principal
    this.#policy = policy
    this.#health = health
    this.along = new CountedAlong(options.database, principal.organizationId, counts)
  }

  async of(trace: Trace): Promise<TraceSimulation> {
    const ground = { nowMs: trace.createdAt, counter: await this.along.counterAt(trace), health: this.#health }
    const simulated = await this.#options.simulate.again(this.#principal, this.#policy, trace, ground)
    if (!simulated.refusal && simulated.counted) this.along.add(trace, simulated.counted)
    return simulated
  }
}

/** Returns the changed settings. Runs the checks of a real change. */
function changed(
  database: Database,
  current: Policy,
  principal: Principal,
  projectId: string,
  request: WhatIfRequest,
  now: number,
): Policy {
  const { rules, withoutRuleIds, failover, downIds } = request
  const project = current.projects.get(projectId)
  const own = current.rules.get(projectId) ?? []
  const unknown = withoutRuleIds.findIndex((id) => own.every((rule) => rule.id !== id))
  if (unknown >= 0) throw invalid([{ path: `without_rule_ids.${unknown}`, message: 'no rule of this project has this id' }])
  const noSuch = downIds.findIndex((id) => !reachableDestination(principal, current.destinations, id))
  if (noSuch >= 0) throw invalid([{ path: `down_ids.${noSuch}`, message: 'no destination has this id' }])
  const added = rules.map((rule) => newRule(database, current, principal, { ...rule, projectId }, now))
  const kept = own.filter(({ id }) => !withoutRuleIds.includes(id))
  return {
    ...current,
    rules: new Map([...current.rules, [projectId, orderRules([...kept, ...added])]]),
    failovers: failover ? withFailover(current, principal, { ...failover, projectId }, now) : current.failovers,
    projects: project ? new Map([...current.projects, [projectId, { ...project, ...limitsOf(request) }]]) : current.projects,
    organization: request.plan === undefined ? current.organization : { ...current.organization, plan: request.plan },
  }
}

const limitsOf = ({ sendBudget, monthlyCaptureCap, noRoutePolicy }: WhatIfRequest): Partial<Project> => ({
  ...(sendBudget !== undefined && { sendBudget }),
  ...(monthlyCaptureCap !== undefined && { monthlyCaptureCap }),
  ...(noRoutePolicy !== undefined && { noRoutePolicy }),
})

function withFailover(current: Policy, principal: Principal, request: FailoverRequest, now: number): Failovers {
  const projectId = projectOfFailover(current, principal, request)
  const { primaryId, fallbackIds, on, latencyMs = null } = request
  const others = current.failovers.all.filter((policy) => policy.projectId !== projectId || policy.primaryId !== primaryId)
  return new Failovers([...others, { id: '', projectId, primaryId, fallbackIds, on, latencyMs, createdAt: now, updatedAt: now }])
}

const cursorOf = (inner: string, { day, sends, month, captures, rates }: Counts): string =>
  Buffer.from(JSON.stringify([inner, day, sends, month, captures, rates])).toString('base64url')

const cursorShape = z.tuple([
  ...([z.string(), z.string(), z.int(), z.string(), z.int()] as const),
  z.array(z.tuple([z.string(), z.int(), z.int()])),
])

function readCursor(cursor: string | undefined): { readonly inner: string | undefined; readonly counts: Counts } {
  if (cursor === undefined) return { inner: undefined, counts: nothingCounted }
  try {
    const [inner, day, sends, month, captures, rates] = cursorShape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
    return { inner, counts: { day, sends, month, captures, rates } }
  } catch {
    throw new CursorInvalid()
  }
}
