/** Collects the state of the service for its operator. */
import { statfsSync } from 'node:fs'
import type { Clock } from '#core/clock.ts'
import type { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import type { DeliveryQueue, QueueLane } from '#core/delivery/queue/queue.ts'
import { Refusal } from '#core/refusals.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { Database } from '#store/database.ts'
import { queueHead, queueLength } from '#store/queue.ts'
import type { NamedDestination, SystemSource, SystemState } from '../../admin-api/operator/system.ts'
import { busy, type Admission } from './admission/admission.ts'
import { latestBackupAt } from '../backup/last-backup.ts'
import type { Readiness } from './readiness.ts'

export interface SystemStateOptions {
  readonly version: string
  readonly dataDir: string
  readonly lowDiskBytes: number
  readonly clock: Clock
  readonly database: Database
  readonly policies: Policies
  readonly queue: DeliveryQueue
  readonly health: HealthRegistry
  readonly readiness: Readiness
  readonly admission: Admission
  readonly waitingWrites: () => number
}

const maxLanes = 500

/** Reads all values at the time of the call, because only people call it. */
export function systemSource(options: SystemStateOptions): SystemSource {
  const startedAt = options.clock.now() - process.uptime() * 1000
  return { read: () => systemState(options, startedAt) }
}

async function systemState(options: SystemStateOptions, startedAt: number): Promise<SystemState> {
  const { version, dataDir, lowDiskBytes, clock, database, queue, health, readiness, waitingWrites } = options
  const now = clock.now()
  const [queued, oldestMs] = [await queueLength(database), await queue.oldestMs()]
  const busy = queue
    .lanes()
    .toSorted((a, b) => b.active + b.ready - a.active - a.ready)
    .slice(0, maxLanes)
  const { bavail, bsize, blocks } = statfsSync(dataDir)
  return {
    ...{ version, startedAt, queued, active: queue.active },
    notReady: readiness.ready(),
    sheds: shedding(options),
    oldestSince: oldestMs > 0 ? now - oldestMs : null,
    lanes: await Promise.all(
      busy.map(async (lane) => ({
        ...lane,
        nextDueAt: lane.nextDueMs,
        destination: await named(options, lane.destinationId, await ownerOf(database, lane)),
      })),
    ),
    breakers: await Promise.all(
      health.resting().map(async ({ destinationId, organizationId, breaker: { phase, reason, cause, since, until } }) => ({
        ...{ destinationId, reason, cause, since, until },
        phase: phase === 'half_open' ? phase : 'open',
        destination: await named(options, destinationId, organizationId),
      })),
    ),
    disk: { freeBytes: bavail * bsize, totalBytes: blocks * bsize, lowBytes: lowDiskBytes },
    waitingWrites: waitingWrites(),
    memoryBytes: process.memoryUsage.rss(),
    lastBackupAt: (await latestBackupAt(dataDir, database)) ?? null,
  }
}

function shedding({ admission }: SystemStateOptions): SystemState['sheds'] {
  try {
    admission.check('storing')
    return admission.isLagging() ? { code: 'overloaded', message: busy } : null
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message }
    throw error
  }
}

/** Returns the organization of a queue lane. If it is not in memory, reads it from the first queue entry of the lane. */
const ownerOf = async (database: Database, lane: QueueLane): Promise<string> =>
  lane.organizationId ?? (await queueHead(database, lane, { limit: 1 }))[0]?.organizationId ?? ''

async function named({ policies }: SystemStateOptions, destinationId: string, organizationId: string): Promise<NamedDestination | null> {
  if (organizationId === '') return null
  const { organization, destinations } = await policies.of(organizationId)
  const destination = destinations.get(destinationId)
  return destination ? { name: destination.name, organizationId, organizationName: organization.name } : null
}
