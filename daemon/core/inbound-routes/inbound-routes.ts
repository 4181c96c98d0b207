/** Creates, lists, changes, moves and deletes inbound routes, and rotates their secrets. Spec "Inbound route". */
import { decode, type Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import { lookupPrefix, type Stored } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import { invalid, Refusal } from '../refusals.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { scheduleCleanup } from '../webhooks/sending/cleanup.ts'
import { newWebhookSecret } from '../webhooks/sending/signature.ts'
import { checkTargetUrl, keptUrl, shownUrl, type TargetGuards } from '../webhooks/endpoints/target-url.ts'
import { removeMessages } from './remove-mail.ts'
import { isOperators, isReserved, nameOf, parsePattern } from './route-pattern.ts'
import { inboundRoutes, routeSecretContext, type InboundRoute } from './route.ts'
import { changeSetting, must } from '../writes/transact.ts'

export interface InboundRouteOptions extends TargetGuards, Core {
  /** A-label domain; null if none is configured, so that no mail is accepted. */
  readonly inboundDomain: string | null
}

export interface InboundRouteRequest {
  readonly localPartPattern: string
  readonly webhookUrl: string
  readonly projectId?: string | undefined
}

/** A route with its secret, which is returned only once. */
export interface RouteWithSecret {
  readonly route: InboundRoute
  readonly secret: string
}

/** Maximum number of routes per organization. */
const maxRoutes = 100
/** Maximum rounds of `removeMessages` before the response to a deletion. */
const roundsAtOnce = 10

export class InboundRoutes implements List<OfProject, InboundRoute> {
  readonly #options: InboundRouteOptions
  /** The lock of pattern changes. All organizations share the inbound domain, so patterns are assigned for one request at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: InboundRouteOptions) {
    this.#options = options
  }

  /** Returns the address pattern of a route; null without an inbound domain. */
  addressOf({ localPartPattern }: InboundRoute): string | null {
    const { inboundDomain } = this.#options
    return inboundDomain === null ? null : `${localPartPattern}@${inboundDomain}`
  }

  /**
   * Creates a route. Throws `validation_failed` for an invalid or reserved pattern and for a forbidden target URL. Throws `conflict` for a
   * pattern in use by any organization, and at the limit of routes.
   */
  async create(principal: Principal, request: InboundRouteRequest): Promise<RouteWithSecret> {
    const { database, writes, policies, secrets, clock } = this.#options
    const pattern = await this.#permittedPattern(principal, request.localPartPattern)
    const webhookUrl = await checkTargetUrl(request.webhookUrl, this.#options, 'webhook_url')
    const secret = newWebhookSecret()
    const make = async (change: Change): Promise<RouteWithSecret> => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, projects, request.projectId)
      await this.#requireFree(principal, pattern)
      await this.#requireRoom(principal)
      const now = clock.now()
      const id = database.newId('inr', now)
      const sealedSecret = secrets.seal(secret, routeSecretContext(id))
      const keptAt = keptUrl(secrets, webhookUrl, routeSecretContext(id))
      const route = { id, projectId, localPartPattern: pattern, webhookUrl: keptAt, sealedSecret, createdAt: now, updatedAt: now }
      change.insert(inboundRoutes, principal.organizationId, route)
      return { route, secret }
    }
    return this.#inTurn(() => writes.runAudited(principal, 'inbound_route.created', make))
  }

  /** Lists routes, newest first. Throws `not_found` for a project outside the caller's reach. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<InboundRoute>> {
    return listReachable(this.#options, inboundRoutes, principal, query)
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<InboundRoute> {
    return (await this.#stored(principal, id)).record
  }

  /** Changes the given fields. A new project moves the route; earlier mail keeps its project. Throws the errors of `create`. */
  async update(
    principal: Principal,
    id: string,
    changes: { readonly webhookUrl?: string | undefined; readonly projectId?: string | undefined },
  ): Promise<InboundRoute> {
    const { writes, policies, secrets } = this.#options
    const { record: seen } = await this.#stored(principal, id)
    const given = changes.webhookUrl === shownUrl(seen.webhookUrl) ? undefined : changes.webhookUrl
    const webhookUrl = given === undefined ? undefined : await checkTargetUrl(given, this.#options, 'webhook_url')
    return writes.runAudited(principal, 'inbound_route.updated', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = changes.projectId === undefined ? undefined : owningProject(principal, projects, changes.projectId)
      return changeSetting(this.#options, { change, kind: inboundRoutes, reach: principal, id }, (record) => ({
        ...record,
        projectId: projectId ?? record.projectId,
        webhookUrl: webhookUrl === undefined ? record.webhookUrl : keptUrl(secrets, webhookUrl, routeSecretContext(id), record.webhookUrl),
      }))
    })
  }

  /** Replaces the secret; all later attempts use it. */
  async rotate(principal: Principal, id: string): Promise<RouteWithSecret> {
    const secret = newWebhookSecret()
    const sealedSecret = this.#options.secrets.seal(secret, routeSecretContext(id))
    const route = await this.#options.writes.runAudited(principal, 'inbound_route.secret_rotated', (change) =>
      changeSetting(this.#options, { change, kind: inboundRoutes, reach: principal, id }, (record) => ({ ...record, sealedSecret })),
    )
    return { route, secret }
  }

  /** Deletes the route; later mail is refused. Its mail and deliveries are removed. Does nothing if the route is missing. */
  async remove(principal: Principal, id: string): Promise<void> {
    const { writes, database } = this.#options
    const { organizationId } = principal
    const isGone = await writes.runAudited(principal, 'inbound_route.deleted', async (change) => {
      const stored = await database.get(inboundRoutes, principal, id)
      if (stored) scheduleCleanup(change.remove(inboundRoutes, organizationId, stored), organizationId, id)
      return stored !== undefined
    })
    // the rest is removed by retention, also after a crash
    let rounds = 0
    if (isGone) await removeMessages({ database, stopping: () => ++rounds > roundsAtOnce }, organizationId, 'route', id)
  }

  async #permittedPattern({ organizationId }: Principal, text: string): Promise<string> {
    const wrong = (message: string): Error => invalid([{ path: 'local_part_pattern', message }])
    const pattern = parsePattern(text)
    if (pattern === undefined)
      throw wrong('must be a local part such as sales, a prefix such as sales+*, or *, of letters, digits, dots, hyphens and underscores')
    if (isReserved(pattern)) throw wrong('is reserved for the service itself')
    if (isOperators(pattern) && !(await this.#isFirst(organizationId)))
      throw wrong('covers the whole inbound domain, which other organizations use too, so it is reserved for the operator of the service')
    return pattern
  }

  async #isFirst(organizationId: string): Promise<boolean> {
    for await (const { id } of allOrganizations(this.#options.database)) return id === organizationId
    return false
  }

  /** Requires that no other organization has a pattern with the same name before `+`. */
  async #requireFree({ organizationId }: Principal, pattern: string): Promise<void> {
    const { kv } = this.#options.database
    const all = within([...lookupPrefix(inboundRoutes.name, 'pattern'), nameOf(pattern)])
    for await (const { value } of kv.range({ ...all, limit: 1 })) {
      const [owner] = decode<[string, string]>(value)
      if (owner !== organizationId) throw taken
    }
    if (await this.#options.database.lookup(inboundRoutes, 'pattern', [nameOf(pattern), pattern])) throw taken
  }

  async #requireRoom({ organizationId }: Principal): Promise<void> {
    if ((await this.#options.database.all(inboundRoutes, { organizationId })).length < maxRoutes) return
    const message = `An organization can have at most ${maxRoutes} inbound routes; delete one first.`
    throw new Refusal('conflict', message, { nextAction: 'delete_route' })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  #stored(principal: Principal, id: string): Promise<Stored<InboundRoute>> {
    return must(this.#options.database, inboundRoutes, principal, id)
  }
}

const taken = new Refusal(
  'conflict',
  'This local part is already used at the inbound domain, which all organizations share; choose another one.',
)
