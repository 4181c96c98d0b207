/**
 * Accepts mail for routes: finds the route of a local part, and commits the mail and its preparation in one write. Spec "Inbound routes".
 */
import { Change } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import type { Core } from '../core.ts'
import { isSwitchedOn } from '../plan/features.ts'
import { Refusal } from '../refusals.ts'
import { storedInboundCounter } from '../tenancy/counters.ts'
import type { WebhookSettings } from '../webhooks/webhook-settings.ts'
import { inboundMessages, preparationWork, unpreparedKey, weightOf, type InboundMessage } from './inbound-message.ts'
import { patternsFor } from './route-pattern.ts'
import { mostKept, Room } from './make-room.ts'
import { inboundRoutes, patternKey, type InboundRoute } from './route.ts'

/** A route that accepts mail. */
export interface LiveRoute {
  readonly organizationId: string
  readonly id: string
}

/** A route with its recipients of one mail. */
export interface Routed {
  readonly route: LiveRoute
  readonly recipients: readonly string[]
}

/** Facts about a mail from the SMTP session. */
export type ArrivalFacts = Pick<InboundMessage, 'mailFrom' | 'remoteAddress' | 'helo' | 'isEncrypted' | 'prefix'>

const isLive = ({ organization, projects }: WebhookSettings, { projectId }: InboundRoute): boolean =>
  organization.deletedAt === undefined && projects.has(projectId) && isSwitchedOn(organization, 'inbound_routes')

export class RouteIntake {
  readonly #options: Core
  readonly #room: Room

  constructor(options: Core) {
    this.#options = options
    this.#room = new Room(options.database, options.clock)
  }

  /**
   * Returns the route with the most specific matching pattern. If that route is inactive, no other route is used, because it could belong
   * to another tenant. Throws `quota_exhausted` if the organization's storage is full.
   */
  async routeFor(localPart: string): Promise<LiveRoute | undefined> {
    const { database, policies } = this.#options
    for (const pattern of patternsFor(localPart)) {
      const stored = await database.lookup(inboundRoutes, 'pattern', patternKey(pattern))
      if (!stored) continue
      const { organizationId, record } = stored
      const settings = await policies.of(organizationId)
      if (!isLive(settings, record)) return undefined
      if (!(await this.#room.has(organizationId, settings.organization))) throw full
      return { organizationId, id: record.id }
    }
    return undefined
  }

  /** Opens a mail with one copy per route. `sender` owns the stored draft until the mail is accepted. */
  open(routed: readonly Routed[], sender: string): RoutedMail {
    return new RoutedMail(this.#options, this.#room, routed, sender)
  }
}

const full = new Refusal('quota_exhausted', 'The mailbox of the recipient is full; try again later.')

const tooLarge = new Refusal('request_too_large', 'The message exceeds the size limit of the recipient; make it smaller.')

/** The copy of the mail for one route. */
interface Copy {
  readonly id: string
  readonly draft: Draft
  readonly routed: Routed
}

/** Maximum number of tries after concurrent changes. The loop is manual, because the write spans organizations. */
const maxTries = 20

/** A mail in progress; it has no effect before `commit`. */
export class RoutedMail {
  readonly #options: Core
  readonly #room: Room
  readonly #copies: readonly Copy[]
  #isCommitted = false

  constructor(options: Core, room: Room, routed: readonly Routed[], sender: string) {
    this.#options = options
    this.#room = room
    this.#copies = routed.map((one) => {
      const id = options.database.newId('inm', options.clock.now())
      return { id, draft: new Draft(options.database, one.route.organizationId, id, sender), routed: one }
    })
  }

  /** Stores the chunk, which must not change afterwards. */
  async write(chunk: Uint8Array): Promise<void> {
    for (const { draft } of this.#copies) await draft.write(chunk)
  }

  /**
   * Returns the ids of the messages after they and their preparation rows are durable. Throws `conflict` if a route was removed, so that
   * the sending server retries and learns the current recipients. Throws `quota_exhausted` without free storage.
   */
  async commit(facts: ArrivalFacts): Promise<readonly string[]> {
    for (let tries = 0; tries < maxTries && !this.#isCommitted; tries++) {
      const change = new Change()
      for (const copy of this.#copies) await this.#add(change, copy, facts)
      const result = await this.#options.database.commit(change)
      this.#isCommitted = result.ok
      if (!result.ok && result.reason === 'limit') throw full // other mail filled the storage at the same time
    }
    if (!this.#isCommitted) throw new Error('a route changes all the time')
    return this.#copies.map(({ id }) => id)
  }

  /** Discards the drafts unless they are committed. Safe to call at any time. */
  async discard(): Promise<void> {
    for (const { draft } of this.#copies) await draft.discard(this.#isCommitted)
  }

  /** Adds one copy with a check of its route; a concurrent change of the route fails the write. */
  async #add(change: Change, { id, draft, routed: { route, recipients } }: Copy, facts: ArrivalFacts): Promise<void> {
    const { database, policies, clock } = this.#options
    const { organizationId, id: routeId } = route
    const stored = await database.get(inboundRoutes, { organizationId }, routeId)
    const settings = await policies.of(organizationId)
    if (!stored || !isLive(settings, stored.record))
      throw new Refusal('conflict', 'A recipient was removed while the message was received; send it again.')
    const { projectId } = stored.record
    change.check([organizationId, inboundRoutes.name, routeId], stored.version)
    const content = draft.seal(change)
    const weight = weightOf({ content })
    const most = mostKept(settings.organization)
    if (weight > most) throw tooLarge
    if (!(await this.#room.has(organizationId, settings.organization, weight))) throw full
    change.add(storedInboundCounter(organizationId), weight, most)
    const message = { ...facts, id, routeId, projectId, recipients, receivedAt: clock.now(), content, prepared: null }
    change.insert(inboundMessages, organizationId, message)
    change.set(unpreparedKey(organizationId, id)).schedule(preparationWork, id)
  }
}
