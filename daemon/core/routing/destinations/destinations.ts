/** Destinations: connect, read, change and remove a customer's providers, and set their mode. Spec "Destination". */
import { addressProblem } from '#config/mail/address-problem.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import { isQueuedFor } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { listReachable, mapRows, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseExactMailbox } from '../../addresses.ts'
import { invalid, Refusal } from '../../refusals.ts'
import {
  changedConnection,
  newConnection,
  type ConnectionChanges,
  type ConnectionOptions,
  type ConnectionRequest,
} from './destination-connection.ts'
import { destinationEvidence } from '../destination-evidence.ts'
import { destinations, type Destination, type DestinationSettings } from '../destination.ts'
import { addDefaultRoute, goLiveWarnings, routeNow, type GoLive } from './going-live.ts'
import { sandboxWarnings, type RouteWarning } from '../rules/route-warnings.ts'
import type { RouteTo } from '../match/route-to.ts'
import { assertMayChange, ownershipOf, type Ownership, type OwnershipChanges } from '../policy/destination-owner.ts'
import { namedDestinations, refuseWhileNamed } from '../policy/references.ts'
import { must } from '../../writes/transact.ts'

export interface DestinationOptions extends ConnectionOptions, Core {
  /** Default number of connections of a destination. */
  readonly defaultConnections: number
}

/** Fields of a change; omitted fields keep their value. */
export interface DestinationChanges {
  readonly name?: string | undefined
  readonly environment?: string | null | undefined
  readonly priority?: number | undefined
  /** One mailbox, with or without a display name. */
  readonly from?: string | null | undefined
  readonly maxConnections?: number | undefined
  readonly maxRatePerMin?: number | null | undefined
  /** Omitted fields keep their value. A stored secret is never used for another host. */
  readonly connection?: ConnectionChanges | undefined
  /** Another project, or the whole organization. */
  readonly ownership?: OwnershipChanges | undefined
}

export interface NewDestination extends Omit<DestinationChanges, 'connection' | 'ownership'> {
  readonly name: string
  readonly connection: ConnectionRequest
  readonly projectId?: string | undefined
}

/** A destination with properties that depend on other settings. */
export type DestinationView = Destination & {
  /** True if it belongs to a project and has no references, so that it can move to another project. */
  readonly isMovable: boolean
}

/** A destination after a change of mode, with its route and warnings. */
export interface ModeChange {
  readonly destination: DestinationView
  readonly alreadyLive: boolean
  readonly route: RouteTo
  readonly warnings: readonly RouteWarning[]
}

const defaults = { environment: null, priority: 100, from: null, maxRatePerMin: null } as const

export class Destinations implements List<OfProject, DestinationView> {
  readonly #options: DestinationOptions

  constructor(options: DestinationOptions) {
    this.#options = options
  }

  /** Creates a destination in sandbox mode. */
  async create(principal: Principal, request: NewDestination): Promise<DestinationView> {
    const { database, policies, clock, writes } = this.#options
    const { organizationId } = principal
    const owner = async (): Promise<string> => owningProject(principal, (await policies.of(organizationId)).projects, request.projectId)
    await owner() // fails early, because the DNS lookup below can take seconds
    const plain = changed(request)
    const now = clock.now()
    const id = database.newId('dst', now)
    const connection = await newConnection(id, request.connection, this.#options)
    const made = await writes.runAudited(principal, 'destination.created', async (change) => {
      const record: Destination = {
        ...defaults,
        maxConnections: this.#options.defaultConnections,
        ...plain,
        ...connection,
        id,
        projectId: await owner(),
        name: request.name,
        mode: 'sandbox',
        createdAt: now,
        updatedAt: now,
      }
      change.insert(destinations, organizationId, record)
      return record
    })
    return { ...made, isMovable: true }
  }

  /** Newest first. Every project's list includes organization-wide destinations. */
  async list(principal: Principal, query: PageQuery & OfProject): Promise<Page<DestinationView>> {
    return mapRows(await listReachable(this.#options, destinations, principal, query), await this.#viewing(principal))
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<DestinationView> {
    return this.#view(principal, (await this.#get(principal, id)).record)
  }

  /** Returns destinations in the order of the ids, undefined for each id that `get` refuses. Uses one read. */
  async getMany(principal: Principal, ids: readonly string[]): Promise<readonly (DestinationView | undefined)[]> {
    const [found, view] = await Promise.all([this.#options.database.getMany(destinations, principal, ids), this.#viewing(principal)])
    return found.map((stored) => stored && view(stored.record))
  }

  /** Applies to queued mail from its next attempt. */
  async update(principal: Principal, id: string, changes: DestinationChanges): Promise<DestinationView> {
    const { record: stored } = await this.#getToChange(principal, id)
    const { ownership } = changes
    const plain = changed(changes)
    if (!changes.connection) return this.#rewrite(principal, 'destination.updated', id, () => plain, ownership)
    const changesFor = await changedConnection(stored, changes.connection, this.#options)
    return this.#rewrite(principal, 'destination.updated', id, (before) => ({ ...plain, ...changesFor(before) }), ownership)
  }

  /** Sets the mode. Sandbox mode captures new mail; mail already accepted as relayed is still delivered. */
  setMode(principal: Principal, id: string, mode: Destination['mode']): Promise<ModeChange> {
    return this.#setMode(principal, id, mode, {}, 'Promote it with default_route true')
  }

  /**
   * Sets the mode to live. A repeated call changes nothing. With `defaultRoute`, mode and rule are one write. Throws `conflict` if all mail
   * of the project has another route, `not_found` for a project that the caller cannot access, and `validation_failed` for a project of
   * another destination.
   */
  promoteToLive(principal: Principal, id: string, wanted: GoLive = {}): Promise<ModeChange> {
    return this.#setMode(principal, id, 'live', wanted, 'Repeat the request with default_route true')
  }

  async #setMode(
    principal: Principal,
    id: string,
    mode: Destination['mode'],
    { defaultRoute = false, projectId }: GoLive,
    again: string,
  ): Promise<ModeChange> {
    const { policies } = this.#options
    let seen: Pick<ModeChange, 'alreadyLive' | 'route' | 'warnings'> | undefined
    const destination = await this.#rewrite(principal, `destination.set_${mode}`, id, async (before, change) => {
      const policy = await policies.of(principal.organizationId)
      const route = defaultRoute
        ? addDefaultRoute(this.#options, { change, policy, principal }, before, projectId)
        : routeNow(policy, principal, before, projectId)
      const warnings =
        mode === 'sandbox'
          ? sandboxWarnings(policy, before)
          : goLiveWarnings(policy, principal, { destination: { ...before, mode }, route, again, projectId })
      seen = { alreadyLive: before.mode === 'live', route, warnings }
      return { mode, ...(mode === 'live' && before.mode !== 'live' && { liveAt: this.#options.clock.now() }) }
    })
    if (!seen) throw new Error('the mode was not decided')
    return { destination, ...seen }
  }

  /**
   * Deletes a destination. Throws `conflict` if it is referenced, is the default sender, or has queued mail without `discardQueued`.
   * Discarded mail fails, with the reason in its trace.
   */
  async remove(principal: Principal, id: string, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    const { database, writes, policies } = this.#options
    await writes.runAudited(principal, 'destination.deleted', async (change) => {
      const stored = await this.#getToChange(principal, id)
      refuseWhileNamed(await policies.of(principal.organizationId), id)
      refuseWhileDefault(stored.record)
      if (!discardQueued && (await isQueuedFor(database, id))) {
        const message =
          'Messages are still queued for this destination; wait until they are sent, or repeat the request with ?discard_queued=true to fail them.'
        throw new Refusal('conflict', message, { nextAction: 'wait_or_discard_queued' })
      }
      change.remove(destinations, principal.organizationId, stored)
      const evidence = await database.get(destinationEvidence, { organizationId: principal.organizationId }, id)
      if (evidence) change.remove(destinationEvidence, principal.organizationId, evidence)
    })
  }

  async #rewrite(
    principal: Principal,
    act: string,
    id: string,
    changesFor: (before: Destination, change: Change) => Partial<Destination> | Promise<Partial<Destination>>,
    ownership?: OwnershipChanges,
  ): Promise<DestinationView> {
    const { writes, clock } = this.#options
    const written = await writes.runAudited(principal, act, async (change) => {
      const stored = await this.#getToChange(principal, id)
      const before = stored.record
      const changes = {
        ...(await changesFor(before, change)),
        ...(ownership && (await this.#ownership(principal, before, ownership, change))),
      }
      if (Object.entries(changes).every(([field, value]) => before[field as keyof Destination] === value)) return before
      // Connections are distinguished by this time, so it must differ even within one millisecond. A change never turns one provider into
      // another.
      const record = { ...before, ...changes, updatedAt: Math.max(clock.now(), before.updatedAt + 1) } as Destination
      change.replace(destinations, principal.organizationId, stored, record)
      return record
    })
    return this.#view(principal, written)
  }

  async #view(principal: Principal, record: Destination): Promise<DestinationView> {
    return (await this.#viewing(principal))(record)
  }

  async #viewing({ organizationId }: Principal): Promise<(record: Destination) => DestinationView> {
    const named = namedDestinations(await this.#options.policies.of(organizationId))
    return (record) => ({ ...record, isMovable: record.shared === undefined && !named.has(record.id) })
  }

  /** Only one destination is the default sender. The previous one stays organization-wide. */
  async #ownership(principal: Principal, before: Destination, changes: OwnershipChanges, change: Change): Promise<Ownership> {
    const policy = await this.#options.policies.of(principal.organizationId)
    const ownership = ownershipOf(policy, principal, before, changes)
    const former = ownership.shared === 'org_default' && before.shared !== 'org_default' && policy.orgDefault
    if (former) {
      const stored = await this.#get(principal, former.id)
      const updatedAt = Math.max(this.#options.clock.now(), stored.record.updatedAt + 1)
      change.replace(destinations, principal.organizationId, stored, { ...stored.record, shared: 'org', updatedAt })
    }
    return ownership
  }

  #get(principal: Principal, id: string): Promise<Stored<Destination>> {
    return must(this.#options.database, destinations, principal, id)
  }

  async #getToChange(principal: Principal, id: string): Promise<Stored<Destination>> {
    const stored = await this.#get(principal, id)
    assertMayChange(principal, stored.record)
    return stored
  }
}

type Plain = Pick<DestinationSettings, 'name' | 'environment' | 'priority' | 'from' | 'maxConnections' | 'maxRatePerMin'>

/** Returns the given plain fields. Throws `validation_failed` for an invalid sender address. */
function changed({ name, environment, priority, from, maxConnections, maxRatePerMin }: DestinationChanges): Partial<Plain> {
  const sender = from == null ? from : checkedFrom(from)
  return Object.fromEntries(
    Object.entries({ name, environment, priority, from: sender, maxConnections, maxRatePerMin }).filter(([, value]) => value !== undefined),
  )
}

/** Returns the address as stored, without surrounding blanks and invisible characters. */
function checkedFrom(from: string): string {
  if (parseExactMailbox(from)) return trimInvisible(from)
  const message = addressProblem(from) ?? 'must be one address such as shop@example.ch or Shop <shop@example.ch>'
  throw invalid([{ path: 'from', message }])
}

/** Throws for the default sender: it has no references, but mail of every project may depend on it. */
function refuseWhileDefault({ shared }: Destination): void {
  if (shared !== 'org_default') return
  const message =
    'It is the default sender of the organization, which receives sends that no rule matches; make another destination the default sender, or set is_org_default to false first.'
  throw new Refusal('conflict', message, { nextAction: 'remove_references' })
}
