/**
 * Retention: webhook deliveries go when they are old, captured messages when their inboxes let them go. Settled traces go when they
 * are older than the plan keeps them, and the oldest of them when there are more than the plan stores. Each goes in a write of its
 * own, so a crash leaves nothing half removed and the next round goes on.
 * Spec "Limits".
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
  /** From 0 up to 1. */
  readonly random: () => number
  readonly onError: (error: unknown) => void
}

const everyMs = 3_600_000
/** Each pause is made longer or shorter by up to this share, so that services that started together do not sweep together. */
const jitter = 0.1
const dayMs = 86_400_000
/** Mail of the service itself says nothing that anybody needs for longer. */
const systemRetentionMs = 7 * dayMs
/** So many traces are removed at a time; their writes share a disk sync. */
const batch = 100

export class Retention {
  readonly #options: RetentionOptions
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: RetentionOptions) {
    this.#options = options
  }

  /** Begins a round at once, and further ones about every hour. */
  start(): void {
    const { clock, random, onError } = this.#options
    this.#running = this.round().then(() => undefined, onError)
    this.#timer = clock.after(
      everyMs * (1 + jitter * (2 * random() - 1)),
      () => void this.#running.then(() => this.#stopping || this.start()),
    )
  }

  /** Ends between two batches; the next start goes on. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Goes over every organization once. Returns how many traces were removed. */
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

  /** What came in, and what is on its way to webhooks. */
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

  /** Removes at most so many settled traces, the oldest first, that were accepted before the time. */
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
