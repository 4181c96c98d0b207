/** Processes reports of a MailEnable agent: bounces, and deliveries from the activity log, each for its tenant. */
import type { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { countDropped, droppedPostoffices } from '../../ingest-sources/dropped-postoffices.ts'
import { keepSessions, readSessions } from '../../ingest-sources/log-sessions.ts'
import { foldPostoffice } from '../../ingest-sources/postoffice-mapping.ts'
import { newRefusals, type RefusedLine } from '../../ingest-sources/refused-recipients.ts'
import type { SignedSource } from '../../ingest-sources/signed-source.ts'
import { tenantsOf, type Tenant, type Tenants } from '../../ingest-sources/tenants.ts'
import type { KeyedMutex } from '../../keyed-mutex.ts'
import type { FeedbackEvent } from '../event.ts'
import { takeInSlices } from './log-intake.ts'
import type { FeedbackOrigin, FeedbackOutcome, FeedbackTaker } from '../feedback-origin.ts'
import { giveWay } from '../../event-loop.ts'

export interface MailEnableIntakeOptions extends Core {
  readonly feedback: FeedbackTaker
  readonly mutex: KeyedMutex
}

/** One bounce as reported by the agent. */
export interface ReportedBounce {
  readonly postoffice: string
  /** Several events if a notice names several recipients. */
  readonly events: readonly FeedbackEvent[]
  /** The notice, if the agent sent one. */
  readonly raw: Uint8Array | undefined
}

export interface BounceAnswer {
  readonly result: 'recorded' | 'duplicate' | 'dropped'
  readonly projectId: string | null
  readonly traceId: string | null
}

/** Part of an activity log. `S` is plain data that a reader stores per session. */
export interface ActivityLog<S> {
  readonly needs: readonly string[]
  readonly read: (known: ReadonlyMap<string, S>) => {
    readonly deliveries: readonly { readonly event: FeedbackEvent; readonly postoffice: string | null; readonly subject: string | null }[]
    readonly refusals: readonly RefusedLine[]
    readonly withheld: number
    readonly remember: ReadonlyMap<string, S>
  }
}

export interface ActivityTaken {
  readonly deliveries: number
  readonly duplicates: number
  readonly dropped: number
  /** Number of new refusals. */
  readonly metrics: number
  readonly withheld: number
}

/** A delivery of a known tenant. */
interface Admitted {
  readonly event: FeedbackEvent
  readonly tenant: Tenant
  readonly postoffice: string
  /** The line has no postoffice, so only a return path can prove its message. */
  readonly isNameless: boolean
}

export class MailEnableIntake {
  readonly #options: MailEnableIntakeOptions

  constructor(options: MailEnableIntakeOptions) {
    this.#options = options
  }

  /** Returns one answer per bounce, in order, after all changes are durable. */
  bounces(signed: SignedSource, reported: readonly ReportedBounce[]): Promise<readonly BounceAnswer[]> {
    return this.#options.mutex.run(signed.source.id, () => this.#bounces(signed, reported))
  }

  /** Resolves when all changes are durable. Repeated lines in any batch change nothing. */
  activity<S>(signed: SignedSource, log: ActivityLog<S>): Promise<ActivityTaken> {
    return this.#options.mutex.run(signed.source.id, () => this.#activity(signed, log))
  }

  /** Returns the tenants of a source, for the installation of an agent. */
  async tenants({ organizationId, source }: SignedSource): Promise<Tenants> {
    const { projects } = await this.#options.policies.of(organizationId)
    return tenantsOf(this.#options.database, organizationId, source.id, projects)
  }

  async #bounces(signed: SignedSource, reported: readonly ReportedBounce[]): Promise<readonly BounceAnswer[]> {
    const { policies, feedback } = this.#options
    const tenants = await this.tenants(signed)
    const { organization } = await policies.of(signed.organizationId)
    const answers: BounceAnswer[] = []
    const dropped: string[] = []
    for (const { postoffice, events, raw } of reported) {
      const tenant = tenants.of(postoffice)
      if (!tenant) {
        dropped.push(postoffice)
        answers.push({ result: 'dropped', projectId: null, traceId: null })
        continue
      }
      const outcomes = await feedback.take({ ...originOf(signed, tenant), raw }, events)
      answers.push(answerOf(outcomes, tenant.projectIds?.[0] ?? organization.defaultProjectId))
    }
    await this.#finish(signed, dropped, () => {})
    return answers
  }

  async #activity<S>(signed: SignedSource, log: ActivityLog<S>): Promise<ActivityTaken> {
    const { database, clock, feedback } = this.#options
    const { organizationId, source } = signed
    const place = { organizationId, sourceId: source.id }
    const now = clock.now()
    const tenants = await this.tenants(signed)
    await giveWay() // yields, because this turn of the event loop already parsed the lines
    const { deliveries, refusals, withheld, remember } = log.read(await readSessions<S>(database, place, log.needs))
    const refused = await newRefusals(database, place, refusals, now)
    const dropped: string[] = []
    const admitted = deliveries.flatMap(({ event, postoffice, subject }): Admitted[] => {
      const tenant = postoffice === null ? tenants.any : tenants.of(postoffice)
      if (!tenant) dropped.push(postoffice ?? '')
      if (!tenant) return []
      const isNameless = tenants.isMultiTenant && postoffice === null
      const clues = subject === null || isNameless ? event.clues : { ...event.clues, subject }
      return [{ event: { ...event, clues }, tenant, postoffice: postoffice ?? '', isNameless }]
    })
    let [taken, duplicates] = [0, 0]
    for (const group of Map.groupBy(admitted, ({ tenant, isNameless }) => JSON.stringify([tenant, isNameless])).values()) {
      const [first] = group
      if (!first) continue
      const origin = originOf(signed, first.tenant)
      const outcomes = await takeInSlices(
        feedback,
        origin,
        group.map(({ event }) => event),
      )
      for (const [i, { result }] of outcomes.entries()) {
        if (result === 'duplicate') duplicates++
        else if (result === 'unmatched' && first.isNameless) dropped.push(group[i]?.postoffice ?? '')
        else taken++
      }
    }
    await this.#finish(signed, dropped, (change) => {
      keepSessions(change, place, remember, now)
      refused.add(change)
    })
    return { deliveries: taken, duplicates, dropped: dropped.length, metrics: refused.count, withheld }
  }

  /** Commits the last write of a request: counts and stored facts. */
  async #finish({ organizationId, source }: SignedSource, dropped: readonly string[], also: (change: Change) => void): Promise<void> {
    const { database, clock, feedback } = this.#options
    const place = { organizationId, sourceId: source.id }
    const before = dropped.length === 0 ? new Map() : await droppedPostoffices(database, organizationId, source.id)
    const groups = Map.groupBy(dropped, foldPostoffice)
    const counts = new Map(
      [...groups].map(([folded, names]) => [folded, { postoffice: (names[0] ?? '').slice(0, 255), events: names.length }]),
    )
    await feedback.take({ ...place, channel: 'signed' }, [], (change) => {
      countDropped(change, place, before, counts, clock.now())
      also(change)
    })
  }
}

const originOf = ({ organizationId, source }: SignedSource, { projectIds, destinationId }: Tenant): FeedbackOrigin => ({
  ...{ organizationId, sourceId: source.id, channel: 'signed', projectIds, destinationId },
})

/** Returns the answer for a bounce. An unmatched bounce belongs to its tenant too. */
function answerOf(outcomes: readonly FeedbackOutcome[], tenantId: string): BounceAnswer {
  const matched = outcomes.find(({ traceId }) => traceId !== null)
  const isOld = outcomes.length > 0 && outcomes.every(({ result }) => result === 'duplicate')
  return { result: isOld ? 'duplicate' : 'recorded', projectId: matched?.projectId ?? tenantId, traceId: matched?.traceId ?? null }
}
