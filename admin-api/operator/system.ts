/** How the service itself is: whether it takes mail, what waits, which destinations rest, and how much room there is. */
import * as z from 'zod'
import type { BreakerCause } from '#core/delivery/health/breaker.ts'
import { action, type Action } from '../actions/action.ts'
import { encoderOf } from '../wire/fields/codec.ts'
import { noInput } from '../wire/fields/text.ts'
import { wireTime } from '../wire/fields/time.ts'
import { breakerCause } from '../wire/routing/destination-health.ts'

/** The service at one moment; times in milliseconds since the epoch. */
export interface SystemState {
  readonly version: string
  readonly startedAt: number
  /** Why the daemon cannot do its work; empty when it can. */
  readonly notReady: readonly string[]
  /** Why nothing new is accepted now, as callers get it; null while everything is. */
  readonly sheds: { readonly code: string; readonly message: string } | null
  readonly queued: number
  readonly active: number
  /** Since when the message waits that waits longest for an attempt that is due; null when none does. */
  readonly oldestSince: number | null
  readonly lanes: readonly SystemLane[]
  readonly breakers: readonly SystemBreaker[]
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number; readonly lowBytes: number }
  readonly waitingWrites: number
  /** The moment that the latest backup holds; null when there was none. */
  readonly lastBackupAt: number | null
  readonly memoryBytes: number
}

/** A destination with its owner; null where it is gone. */
export interface NamedDestination {
  readonly name: string
  readonly organizationId: string
  readonly organizationName: string
}

/** A destination that gets no mail now, or one message as a trial. */
export interface SystemBreaker {
  readonly destinationId: string
  readonly destination: NamedDestination | null
  readonly phase: 'open' | 'half_open'
  readonly reason: string | null
  readonly cause: BreakerCause | null
  readonly since: number | null
  readonly until: number | null
}

/** What one destination has to do for one project. */
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
  destination_name: z.string().nullable().meta({ description: 'Null where the destination is gone.' }),
  organization_id: z.string().nullable(),
  organization_name: z.string().nullable(),
}

const laneShape = z.object({
  ...ownedDestination,
  project_id: z.string(),
  active: z.int(),
  ready: z.int().meta({ description: 'Messages that are due and in memory; further ones may wait in the store.' }),
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
    reasons: z.array(z.string()).meta({ description: 'Why the service is not ready, or refuses new work.' }),
    queue: z.object({
      waiting: z.int().meta({ description: 'Messages in the delivery queue, due or not.' }),
      active: z.int().meta({ description: 'Attempts under way.' }),
      oldest_due_at: wireTime.nullable().meta({ description: 'When the first attempt was due of the message that waits longest.' }),
    }),
    lanes: z.array(laneShape).meta({ description: 'At most 500: what each destination has to do for each project, the busiest first.' }),
    breakers: z.array(breakerShape).meta({ description: 'Destinations whose circuit breaker is not closed.' }),
    disk: z.object({ free_bytes: z.int(), total_bytes: z.int(), low_bytes: z.int() }).meta({
      description: 'Of the file system with the data folder. Below low_bytes nothing is accepted.',
    }),
    waiting_writes: z.int().meta({ description: 'Writes that wait for the disk.' }),
    memory_bytes: z.int(),
    last_backup_at: wireTime
      .nullable()
      .meta({ description: 'The moment that the latest backup of the data folder holds; null when `postern backup` has made none.' }),
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
    description: 'Of this process, and of the store that it has. Figures of destinations are in memory and begin with the process.',
    tags: ['operator'],
    scope: 'operator',
    input: noInput,
    output: systemState,
    http: { method: 'GET', path: '/operator/v1/system' },
    run: ({ core }) => core.system.read(),
  }),
]
