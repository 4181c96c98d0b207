/** Destinations: connecting, reading, changing and removing a customer's providers, and their mode. Spec "Destination". */
import type { Database, Page } from '#store/database.ts'
import { newId } from '#store/ids.ts'
import { queueHead } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { owningProject, reachableProject } from '../access/project-choice.ts'
import type { Scope } from '../access/scope.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { parseMailbox } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import { invalid, Refusal } from '../refusals.ts'
import type { SettingWrites } from '../setting-writes.ts'
import { destinations, oauth2Place, passwordPlace, type Destination } from './destination.ts'
import { assertPasswordStays, mergeEndpoint, type EndpointChanges } from './endpoint-changes.ts'
import { checkEndpoint, type Endpoint, type EndpointGuards, type EndpointRequest } from './endpoint.ts'
import { sealOAuth2 } from './oauth2.ts'
import type { Policies } from './policy.ts'

export interface DestinationOptions extends EndpointGuards {
  /** Connections at a time of a destination that names no number. */
  readonly connectionsUnlessTold: number
  readonly database: Database
  readonly writes: SettingWrites
  readonly policies: Policies
  readonly secrets: SecretBox
  readonly clock: Clock
}

/** The fields that a change may name; what is left out stays as it is. */
export interface DestinationChanges {
  readonly name?: string | undefined
  readonly environment?: string | null | undefined
  readonly priority?: number | undefined
  /** One mailbox, with or without a display name. */
  readonly from?: string | null | undefined
  readonly maxConnections?: number | undefined
  readonly maxRatePerMin?: number | null | undefined
  /** What is left out stays; a stored password never moves to another host. */
  readonly endpoint?: EndpointChanges | undefined
}

export interface NewDestination extends Omit<DestinationChanges, 'endpoint'> {
  readonly name: string
  readonly endpoint: EndpointRequest
  readonly projectId?: string | undefined
}

type SealedLogin = Pick<Destination, 'sealedPassword' | 'oauth2'>

const unlessTold = { environment: null, priority: 100, from: null, maxRatePerMin: null } as const

export class Destinations {
  readonly #options: DestinationOptions

  constructor(options: DestinationOptions) {
    this.#options = options
  }

  /** New destinations are in sandbox mode. */
  async create(scope: Scope, request: NewDestination): Promise<Destination> {
    const { policies, clock, writes } = this.#options
    const { organizationId } = scope
    const projectId = owningProject(scope, (await policies.of(organizationId)).projects, request.projectId)
    checkFrom(request.from)
    const endpoint = await checkEndpoint(request.endpoint, this.#options)
    const now = clock.now()
    const id = newId('dst', now)
    const record: Destination = {
      ...unlessTold,
      maxConnections: this.#options.connectionsUnlessTold,
      ...changed(request),
      ...this.#seal(id, endpoint),
      id,
      projectId,
      name: request.name,
      provider: 'smtp',
      mode: 'sandbox',
      createdAt: now,
      updatedAt: now,
    }
    await writes.run(organizationId, (change) => change.insert(destinations, organizationId, record))
    return record
  }

  /** Newest first. */
  async list(
    scope: Scope,
    page: { readonly limit: number; readonly cursor?: string | undefined; readonly projectId?: string | undefined },
  ): Promise<Page<Destination>> {
    const { database, policies } = this.#options
    const { projects } = await policies.of(scope.organizationId)
    const project = reachableProject(scope, projects, page.projectId, 'project')
    const walk = project === undefined ? {} : { index: 'project', values: [project] }
    const { rows, nextCursor } = await database.list(destinations, scope, { ...walk, limit: page.limit, cursor: page.cursor })
    return { rows: rows.map(({ record }) => record), nextCursor }
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async get(scope: Scope, id: string): Promise<Destination> {
    return (await this.#get(scope, id)).record
  }

  /** Acts on mail that is already queued from its next attempt on. */
  async update(scope: Scope, id: string, changes: DestinationChanges): Promise<Destination> {
    const { record: stored } = await this.#get(scope, id)
    checkFrom(changes.from)
    if (!changes.endpoint) return this.#rewrite(scope, id, () => changed(changes))
    const request = mergeEndpoint(stored, changes.endpoint)
    const endpoint = await checkEndpoint(request, this.#options)
    return this.#rewrite(scope, id, (before) => {
      if (!request.keepsPassword) return { ...changed(changes), ...this.#seal(id, endpoint) }
      // The look-up took time: the host may have changed meanwhile, and a password with it.
      assertPasswordStays(before, endpoint)
      const { password: _, oauth2: __, ...others } = endpoint
      return { ...changed(changes), ...others }
    })
  }

  /** In sandbox mode everything for this destination is captured; what was accepted as relayed before still goes out. */
  setMode(scope: Scope, id: string, mode: Destination['mode']): Promise<Destination> {
    return this.#rewrite(scope, id, () => ({ mode }))
  }

  /** Idempotent; tells whether the destination was live before. */
  async promoteToLive(scope: Scope, id: string): Promise<{ readonly destination: Destination; readonly alreadyLive: boolean }> {
    const { mode } = await this.get(scope, id)
    return { destination: await this.setMode(scope, id, 'live'), alreadyLive: mode === 'live' }
  }

  /**
   * Refused with `conflict` while a rule or a credential names it, and while mail is queued for it unless that is to be
   * discarded; mail queued for it then fails, and its trace says why.
   */
  async remove(scope: Scope, id: string, { discardQueued }: { readonly discardQueued: boolean }): Promise<void> {
    const { database, writes, policies } = this.#options
    await writes.run(scope.organizationId, async (change) => {
      const stored = await this.#get(scope, id)
      const { rules, credentials } = await policies.of(scope.organizationId)
      const ruleIds = [...rules.values()].flat().flatMap((rule) => (rule.destinationId === id ? [rule.id] : []))
      const credentialIds = [...credentials.values()].flatMap((one) => (one.defaultDestinationId === id ? [one.id] : []))
      if (ruleIds.length + credentialIds.length > 0) {
        const named = [...counted(ruleIds.length, 'routing rule'), ...counted(credentialIds.length, 'SMTP credential')].join(' and ')
        throw new Refusal('conflict', `Still used by ${named}; change or delete what names this destination first.`, {
          nextAction: 'remove_references',
          details: { routing_rule_ids: ruleIds, smtp_credential_ids: credentialIds },
        })
      }
      if (!discardQueued && (await queueHead(database, id, { limit: 1 })).length > 0) {
        const message =
          'Messages are still queued for this destination; wait until they are sent, or repeat with ?discard_queued=true and they fail.'
        throw new Refusal('conflict', message, { nextAction: 'wait_or_discard_queued' })
      }
      change.remove(destinations, scope.organizationId, stored)
    })
  }

  #rewrite(scope: Scope, id: string, changesFor: (before: Destination) => Partial<Destination>): Promise<Destination> {
    const { writes, clock } = this.#options
    return writes.run(scope.organizationId, async (change) => {
      const stored = await this.#get(scope, id)
      const before = stored.record
      const changes = changesFor(before)
      if (Object.entries(changes).every(([field, value]) => before[field as keyof Destination] === value)) return before
      // Connections are told apart by this time, so it must differ even within one millisecond.
      const record = { ...before, ...changes, updatedAt: Math.max(clock.now(), before.updatedAt + 1) }
      change.replace(destinations, scope.organizationId, stored, record)
      return record
    })
  }

  #seal(id: string, { password, oauth2, ...endpoint }: Endpoint): Omit<Endpoint, 'password' | 'oauth2'> & SealedLogin {
    const { secrets } = this.#options
    return {
      ...endpoint,
      sealedPassword: password === undefined ? null : secrets.seal(password, passwordPlace(id)),
      oauth2: oauth2 && sealOAuth2(oauth2, (text) => secrets.seal(text, oauth2Place(id))),
    }
  }

  async #get(scope: Scope, id: string): Promise<Stored<Destination>> {
    const stored = await this.#options.database.get(destinations, scope, id)
    if (!stored) throw new Refusal('not_found', 'No destination has this id.')
    return stored
  }
}

type Plain = Pick<Destination, 'name' | 'environment' | 'priority' | 'from' | 'maxConnections' | 'maxRatePerMin'>

/** The plain fields that were given. */
function changed({ name, environment, priority, from, maxConnections, maxRatePerMin }: DestinationChanges): Partial<Plain> {
  return Object.fromEntries(
    Object.entries({ name, environment, priority, from, maxConnections, maxRatePerMin }).filter(([, value]) => value !== undefined),
  )
}

const counted = (count: number, noun: string): string[] => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`])

function checkFrom(from: string | null | undefined): void {
  if (from != null && !parseMailbox(from))
    throw invalid([{ path: 'from', message: 'must be one address such as shop@example.ch or Shop <shop@example.ch>' }])
}
