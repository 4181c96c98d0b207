/** Routing rules: create, list in order of evaluation, update and delete. Spec "Routing rule". */
import { addressProblem } from '#config/mail/address-problem.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import { isDeepStrictEqual } from 'node:util'
import type { Database, Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { pageOfLoaded, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { isOpenTo, owningProject, reachableProject, requireEnvironment } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { foldAddress, parseAddress, parseDomain } from '../../addresses.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { Policy } from '../policy/policy.ts'
import { routingRules, type RoutingRule, type RuleMatch } from '../rule.ts'
import { rankOf } from '../match/match.ts'
import { must } from '../../writes/transact.ts'
import { ruleWarnings, type RouteWarning } from './route-warnings.ts'

/** An address, a domain with or without @, a domain after `*.`, or `*`; or a match object. */
export type MatchRequest = string | RuleMatch

export interface RuleChanges {
  readonly match?: MatchRequest | undefined
  readonly destinationId?: string | undefined
  /** Alternative to a destination: the active destination of this environment. */
  readonly environment?: string | undefined
  readonly priority?: number | undefined
}

export interface NewRule extends RuleChanges {
  readonly match: MatchRequest
  /** Defaults to the project of the destination, or of the principal for an organization-wide destination. */
  readonly projectId?: string | undefined
}

/** A rule after a change, with warnings. */
export type ChangedRule = RoutingRule & { readonly warnings: readonly RouteWarning[] }

const defaultPriority = 100

export class RoutingRules implements List<OfProject, RoutingRule> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  create(principal: Principal, request: NewRule): Promise<ChangedRule> {
    const { database, writes, policies, clock } = this.#core
    return writes.runAudited(principal, 'routing_rule.created', async (change) => {
      const policy = await policies.of(principal.organizationId)
      const record = newRule(database, policy, principal, request, clock.now())
      requireDistinct(policy, record)
      change.insert(routingRules, principal.organizationId, record)
      return { ...record, warnings: ruleWarnings(policy, record) }
    })
  }

  /** Lists rules by project, in order of evaluation. */
  async list(principal: Principal, { projectId, ...query }: PageQuery & OfProject): Promise<Page<RoutingRule>> {
    const { projects, rules } = await this.#core.policies.of(principal.organizationId)
    const project = reachableProject(principal, projects, projectId, 'project')
    const all = project === undefined ? [...rules.keys()].toSorted().flatMap((id) => rules.get(id) ?? []) : (rules.get(project) ?? [])
    return pageOfLoaded(routingRules, principal, all, query, { positionOf: (rule) => [rule.projectId, ...rankOf(rule)] })
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<RoutingRule> {
    return (await this.#get(principal, id)).record
  }

  /** Changes only the given fields. */
  update(principal: Principal, id: string, changes: RuleChanges): Promise<ChangedRule> {
    const { writes, policies } = this.#core
    const match = changes.match === undefined ? undefined : readMatch(changes.match)
    return writes.runAudited(principal, 'routing_rule.updated', async (change) => {
      const stored = await this.#get(principal, id)
      const policy = await policies.of(principal.organizationId)
      const { projectId, createdAt, priority } = stored.record
      const way = namesWay(changes) ? wayOf(changes) : wayOf(stored.record)
      if (way.destinationId !== null) projectOfRule(policy, principal, way.destinationId, projectId)
      if (way.environment !== undefined) requireEnvironment(policy.destinations, projectId, way.environment)
      const record: RoutingRule = {
        ...{ id, projectId, createdAt, ...way },
        ...{ match: match ?? stored.record.match, priority: changes.priority ?? priority },
      }
      requireDistinct(policy, record)
      change.replace(routingRules, principal.organizationId, stored, record)
      return { ...record, warnings: ruleWarnings(policy, record) }
    })
  }

  async remove(principal: Principal, id: string): Promise<void> {
    await this.#core.writes.runAudited(principal, 'routing_rule.deleted', async (change) =>
      change.remove(routingRules, principal.organizationId, await this.#get(principal, id)),
    )
  }

  #get(principal: Principal, id: string): Promise<Stored<RoutingRule>> {
    return must(this.#core.database, routingRules, principal, id)
  }
}

/** Returns the new rule without storing it. Throws `validation_failed`, and `not_found` for a project that the caller cannot access. */
export function newRule(database: Database, policy: Policy, principal: Principal, request: NewRule, now: number): RoutingRule {
  const match = readMatch(request.match)
  const way = wayOf(request)
  const projectId =
    way.destinationId === null
      ? owningProject(principal, policy.projects, request.projectId)
      : projectOfRule(policy, principal, way.destinationId, reachableProject(principal, policy.projects, request.projectId, 'project_id'))
  if (way.environment !== undefined) requireEnvironment(policy.destinations, projectId, way.environment)
  const { priority = defaultPriority } = request
  return { id: database.newId('rul', now), projectId, match, ...way, priority, createdAt: now }
}

/** Throws `conflict` if another rule of the project has the same match and target. */
function requireDistinct({ rules }: Policy, rule: RoutingRule): void {
  const { id, projectId, match, destinationId, environment } = rule
  const twin = (rules.get(projectId) ?? []).find(
    (other) =>
      other.id !== id &&
      other.destinationId === destinationId &&
      other.environment === environment &&
      isDeepStrictEqual(other.match, match),
  )
  if (!twin) return
  const message = `The rule ${twin.id} has the same match and destination; change its priority instead of creating another.`
  throw new Refusal('conflict', message, { details: { rule_id: twin.id } })
}

const namesWay = ({ destinationId, environment }: RuleChanges): boolean => destinationId !== undefined || environment !== undefined

/** Returns the target of a rule: a destination or an environment, never both. Throws `validation_failed`. */
function wayOf({
  destinationId,
  environment,
}: {
  readonly destinationId?: string | null | undefined
  readonly environment?: string | undefined
}): {
  readonly destinationId: string | null
  readonly environment?: string
} {
  if (destinationId != null && environment !== undefined)
    throw invalid([{ path: 'environment', message: 'replaces destination_id; give only one of them' }])
  if (environment !== undefined) return { destinationId: null, environment }
  if (destinationId != null) return { destinationId }
  throw invalid([{ path: 'destination_id', message: 'is required unless environment is given' }])
}

/** Returns the requested project, or the project of the destination. The project must be able to use the destination. */
function projectOfRule({ destinations }: Policy, principal: Principal, destinationId: string, asked: string | undefined): string {
  const destination = destinations.get(destinationId)
  const projectId = asked ?? (destination?.shared === undefined ? destination?.projectId : principal.projectId)
  if (destination && projectId !== undefined && isOpenTo(destination, projectId)) return projectId
  throw invalid([{ path: 'destination_id', message: 'no destination of this project has this id' }])
}

function readMatch(request: MatchRequest): RuleMatch {
  if (typeof request !== 'string') {
    if ('from' in request) return { from: readAddress(request.from, 'match.from') }
    return 'domain' in request ? { domain: readDomain(request.domain, 'match.domain') } : request
  }
  if (request === '*') return { any: true }
  return request.lastIndexOf('@') > 0 ? { from: readAddress(request, 'match') } : { domain: readDomain(request, 'match') }
}

function readAddress(text: string, path: string): string {
  const mailbox = parseAddress(trimInvisible(text))
  if (mailbox?.local === '*')
    throw invalid([{ path, message: `matches one address only; for every address of the domain, match ${mailbox.domain}` }])
  if (!mailbox || mailbox.local.includes('*'))
    throw invalid([{ path, message: addressProblem(text) ?? 'must be an address such as shop@example.ch' }])
  return foldAddress(mailbox.address)
}

/** Returns the domain in lower-case A-label form, with `*.` for subdomains. */
function readDomain(text: string, path: string): string {
  const named = text.startsWith('@') ? text.slice(1) : text
  const wildcard = named.startsWith('*.') ? '*.' : ''
  const domain = parseDomain(named.slice(wildcard.length))
  if (domain !== undefined) return wildcard + domain
  if (named.includes('*')) throw invalid([{ path, message: 'can contain * only for all subdomains, as in *.example.ch' }])
  const choices =
    path === 'match'
      ? 'must be an address such as shop@example.ch, a domain such as example.ch, its subdomains as *.example.ch, or *'
      : 'must be a domain such as example.ch, or its subdomains as *.example.ch'
  throw invalid([{ path, message: choices }])
}
