/** State of the service: readiness, queue, paused destinations, and disk space. */
import * as z from 'zod'
import type { BreakerCause } from '#core/delivery/health/breaker.ts'
import { action, type Action } from '../actions/action.ts'
import { encoderOf } from '../wire/fields/codec.ts'
import { noInput } from '../wire/fields/text.ts'
import { wireTime } from '../wire/fields/time.ts'
import { breakerCause } from '../wire/routing/destination-health.ts'

/** A snapshot of the service; times in milliseconds since the epoch. */
export interface SystemState {
  readonly version: string
  readonly startedAt: number
  /** Reasons why the daemon is not ready; empty if it is ready. */
  readonly notReady: readonly string[]
  /** Refusal of new work, as callers receive it; null if work is accepted. */
  readonly sheds: { readonly code: string; readonly message: string } | null
  readonly queued: number
  readonly active: number
  /** Time when the oldest due attempt became due; null without due attempts. */
  readonly oldestSince: number | null
  readonly lanes: readonly SystemLane[]
  readonly breakers: readonly SystemBreaker[]
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number; readonly lowBytes: number }
  readonly waitingWrites: number
  /** Time of the latest backup's content; null without a backup. */
  readonly lastBackupAt: number | null
  readonly memoryBytes: number
}

/** A destination with its owner. */
export interface NamedDestination {
  readonly name: string
  readonly organizationId: string
  readonly organizationName: string
}

/** A destination that receives no mail, or one message as a trial. */
export interface SystemBreaker {
  readonly destinationId: string
  readonly destination: NamedDestination | null
  readonly phase: 'open' | 'half_open'
  readonly reason: string | null
  readonly cause: BreakerCause | null
  readonly since: number | null
  readonly until: number | null
}

/** Load of one destination for one project. */
export interface SystemLane {
  readonly destinationId: string
  readonly projectId: string
  readonly destination: NamedDestination | null
  readonly active: number
  /** Entries that are due and in memory. */
  readonly ready: number
  readonly nextDueAt: number | null
}

export interface SystemSource {
  read(): Promise<SystemState>
}

const ownedDestination = {
  destination_id: z.string(),
  destination_name: z.string().nullable().meta({ description: 'Null if the destination was deleted.' }),
  organization_id: z.string().nullable(),
  organization_name: z.string().nullable(),
}

const laneShape = z.object({
  ...ownedDestination,
  project_id: z.string(),
  active: z.int(),
  ready: z.int().meta({ description: 'Messages that are due and in memory; the store may contain more.' }),
  next_due_at: wireTime.nullable(),
})

const breakerShape = z.object({
  ...ownedDestination,
  state: z.enum(['open', 'half_open']),
  reason: z.string().nullable(),
  cause: breakerCause.schema.nullable(),
  since: wireTime.nullable(),
  until: wireTime.nullable(),
})

const stateShape = z
  .object({
    version: z.string(),
    started_at: wireTime,
    ready: z.boolean(),
    reasons: z.array(z.string()).meta({ description: 'Reasons why the service is not ready or refuses new work.' }),
    queue: z.object({
      waiting: z.int().meta({ description: 'Messages in the delivery queue, due or not.' }),
      active: z.int().meta({ description: 'Attempts in progress.' }),
      oldest_due_at: wireTime.nullable().meta({ description: 'Time when the oldest waiting attempt became due.' }),
    }),
    lanes: z.array(laneShape).meta({ description: 'At most 500: the load of each destination for each project, busiest first.' }),
    breakers: z.array(breakerShape).meta({ description: 'Destinations whose circuit breaker is not closed.' }),
    disk: z.object({ free_bytes: z.int(), total_bytes: z.int(), low_bytes: z.int() }).meta({
      description: 'Space of the file system with the data folder. Below low_bytes, no new mail is accepted.',
    }),
    waiting_writes: z.int().meta({ description: 'Writes waiting for the disk.' }),
    memory_bytes: z.int(),
    last_backup_at: wireTime
      .nullable()
      .meta({ description: 'Time of the content of the latest backup of the data folder; null without a backup by `postern backup`.' }),
  })
  .meta({ id: 'SystemState' })

const iso = (ms: number): string => new Date(ms).toISOString()
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

const owned = (destinationId: string, destination: NamedDestination | null) => ({
  destination_id: destinationId,
  destination_name: destination?.name ?? null,
  organization_id: destination?.organizationId ?? null,
  organization_name: destination?.organizationName ?? null,
})

const systemState = encoderOf(stateShape, (state: SystemState) => ({
  version: state.version,
  started_at: iso(state.startedAt),
  ready: state.notReady.length === 0 && state.sheds === null,
  reasons: [...state.notReady, ...(state.sheds ? [state.sheds.message] : [])],
  queue: { waiting: state.queued, active: state.active, oldest_due_at: isoOrNull(state.oldestSince) },
  lanes: state.lanes.map(({ destination, destinationId, projectId, active, ready, nextDueAt }) => ({
    ...owned(destinationId, destination),
    ...{ project_id: projectId, active, ready, next_due_at: isoOrNull(nextDueAt) },
  })),
  breakers: state.breakers.map(({ destination, destinationId, phase, reason, cause, since, until }) => ({
    ...owned(destinationId, destination),
    ...{ state: phase, reason, cause: cause && breakerCause.encode(cause), since: isoOrNull(since), until: isoOrNull(until) },
  })),
  disk: { free_bytes: state.disk.freeBytes, total_bytes: state.disk.totalBytes, low_bytes: state.disk.lowBytes },
  waiting_writes: state.waitingWrites,
  memory_bytes: state.memoryBytes,
  last_backup_at: isoOrNull(state.lastBackupAt),
}))

export const systemActions: readonly Action<{ readonly system: SystemSource }>[] = [
  action({
    id: 'operatorGetSystem',
    summary: 'Get the state of the service: queue, destinations, disk, backup',
    description: 'Describes this process and its store. Figures of destinations are kept in memory and start with the process.',
    tags: ['operator'],
    scope: 'operator',
    input: noInput,
    output: systemState,
    http: { method: 'GET', path: '/operator/v1/system' },
    run: ({ core }) => core.system.read(),
  }),
]
