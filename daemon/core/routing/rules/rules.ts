/** Routing rules: creating, listing in the order in which they are tried, changing and deleting. Spec "Routing rule". */
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

/** An address, a domain with or without @, a domain after `*.`, or `*`; or the match spelled out. */
export type MatchRequest = string | RuleMatch

export interface RuleChanges {
  readonly match?: MatchRequest | undefined
  readonly destinationId?: string | undefined
  /** In place of a destination: the one of this environment that takes mail when the rule matches. */
  readonly environment?: string | undefined
  readonly priority?: number | undefined
}

export interface NewRule extends RuleChanges {
  readonly match: MatchRequest
  /** By default that of the destination, or for an organization-wide one that of the principal. */
  readonly projectId?: string | undefined
}

/** A rule that was just set. */
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

  /** Project by project, in the order in which the rules are tried. */
  async list(principal: Principal, { projectId, ...query }: PageQuery & OfProject): Promise<Page<RoutingRule>> {
    const { projects, rules } = await this.#core.policies.of(principal.organizationId)
    const project = reachableProject(principal, projects, projectId, 'project')
    const all = project === undefined ? [...rules.keys()].toSorted().flatMap((id) => rules.get(id) ?? []) : (rules.get(project) ?? [])
    return pageOfLoaded(routingRules, principal, all, query, { positionOf: (rule) => [rule.projectId, ...rankOf(rule)] })
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<RoutingRule> {
    return (await this.#get(principal, id)).record
  }

  /** Only what is given changes. */
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

/** The rule as it would be made. Throws `validation_failed`, and `not_found` for a project out of reach. */
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

/** Throws `conflict` for a rule that another one of the project makes useless: it matches the same and leads to the same. */
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

/** Where the rule leads: a destination or an environment, and never both. Throws `validation_failed`. */
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

/** The project that was asked for, or else the one that the destination means; the destination must be open to it. */
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

/** In lower case A-label form, after `*.` when subdomains are meant. */
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
