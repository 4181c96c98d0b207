/**
 * Retention: deletes old webhook deliveries, captured messages that their inboxes no longer retain, settled traces older than the plan's
 * retention, and the oldest traces above the plan's limit. Each deletion is one write, so that a crash leaves no partial deletion and the
 * next round continues. Spec "Limits".
 */
import { pack } from '#store/tuple.ts'
import { sieve } from '../access/principal/lists.ts'
import { noteStoredTraces } from '../billing/explained/stored-traces.ts'
import type { Core } from '../core.ts'
import type { Timer } from '../clock.ts'
import { moveEarlierUnsubscribes } from '../feedback/suppression/move-unsubscribes.ts'
import { sweepInbound } from '../inbound-routes/remove-mail.ts'
import { billsOverage, limitsOf } from '../plan/limits.ts'
import { sweepInspectTests } from '../inspect/sweep-tests.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { storedTracesCounter } from '../tenancy/counters.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import type { Organization } from '../tenancy/organization.ts'
import { sweepDeliveries } from '../webhooks/sending/cleanup.ts'
import { traceList } from '../trace/trace-walk.ts'
import { sweepSubmissions } from '../forms/submissions/sweep.ts'
import { sweepInboxes } from './inbox-retention.ts'
import { isSettled, removeTrace } from './remove-trace.ts'

export interface RetentionOptions extends Core {
  /** At least 0 and less than 1. */
  readonly random: () => number
  readonly onError: (error: unknown) => void
}

const everyMs = 3_600_000
/** Relative variation of each pause, so that services started together do not sweep at the same time. */
const jitter = 0.1
const dayMs = 86_400_000
/** Retention of system mail. */
const systemRetentionMs = 7 * dayMs
/** Traces deleted concurrently; their writes share a disk sync. */
const batch = 100

export class Retention {
  readonly #options: RetentionOptions
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  /** Starts a round immediately, and further rounds about every hour. */
  start(): void {
    const { clock, random, onError } = this.#options
    this.#running = this.round().then(() => undefined, onError)
    this.#timer = clock.after(
      everyMs * (1 + jitter * (2 * random() - 1)),
      () => void this.#running.then(() => this.#stopping || this.start()),
    )
  }

  /** Stops between two batches; the next start continues. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Processes every organization once. Returns the number of deleted traces. */
  async round(): Promise<number> {
    let removed = 0
    for await (const organization of allOrganizations(this.#options.database)) {
      if (this.#stopping) break
      removed += await this.#sweep(organization)
      removed += await sweepInboxes(
        { database: this.#options.database, stopping: () => this.#stopping },
        organization.id,
        this.#options.clock.now(),
      )
      const { database, clock } = this.#options
      await moveEarlierUnsubscribes({ database, organization, nowMs: clock.now() }, () => this.#stopping)
      await this.#sweepDeliveries(organization)
      await this.#sweepInspectTests(organization)
      const work = { database, stopping: () => this.#stopping }
      await sweepSubmissions(work, organization.id, clock.now())
      await noteStoredTraces(database, organization.id, clock.now())
    }
    const { database, clock } = this.#options
    await sweepDeliveries({ database, stopping: () => this.#stopping }, systemOrganizationId, { nowMs: clock.now() })
    return removed + (await this.#remove(systemOrganizationId, clock.now() - systemRetentionMs, Infinity))
  }

  async #sweep(organization: Organization): Promise<number> {
    const { retentionDays, tracesStored } = limitsOf(organization)
    const oldest = retentionDays === undefined ? -Infinity : this.#options.clock.now() - retentionDays * dayMs
    const removed = await this.#remove(organization.id, oldest, Infinity)
    if (tracesStored === undefined || billsOverage(organization)) return removed
    return removed + (await this.#remove(organization.id, Infinity, (await this.#stored(organization.id)) - tracesStored))
  }

  /** Deletes old inbound messages and webhook deliveries. */
  async #sweepDeliveries(organization: Organization): Promise<void> {
    const { database, clock } = this.#options
    const { retentionDays } = limitsOf(organization)
    const work = { database, stopping: () => this.#stopping }
    await sweepDeliveries(work, organization.id, { nowMs: clock.now(), retentionDays })
    await sweepInbound(work, organization.id, { nowMs: clock.now(), retentionDays })
  }

  #sweepInspectTests(organization: Organization): Promise<number> {
    const { database, clock } = this.#options
    const { retentionDays } = limitsOf(organization)
    return sweepInspectTests({ database, stopping: () => this.#stopping }, organization.id, { nowMs: clock.now(), retentionDays })
  }

  /** Deletes up to `atMost` settled traces accepted before the time, oldest first. */
  async #remove(organizationId: string, beforeMs: number, atMost: number): Promise<number> {
    if (beforeMs === -Infinity || atMost <= 0) return 0
    const { database, clock } = this.#options
    const chosen = sieve(isSettled, ({ createdAt }) => createdAt >= beforeMs)
    let removed = 0
    let cursor: string | undefined
    do {
      const wanted = { ascending: true, limit: Math.min(batch, atMost - removed), cursor }
      const { rows, nextCursor } = await traceList(database, { organizationId }, wanted, chosen)
      const gone = await Promise.all(rows.map(({ record }) => removeTrace(database, organizationId, record.id, clock.now())))
      removed += gone.filter(Boolean).length
      cursor = nextCursor
    } while (cursor !== undefined && removed < atMost && !this.#stopping)
    return removed
  }

  #stored(organizationId: string): Promise<number> {
    return this.#options.database.kv.counter(pack(storedTracesCounter(organizationId)))
  }
}
