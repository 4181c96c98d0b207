/** Captured sends and the virtual inboxes they land in. Spec "Captured message", "Virtual inbox". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { arrivals, type FoundLater } from './pattern.ts'

export const captureReasons = ['captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
export type CaptureReason = (typeof captureReasons)[number]

/** A send that was kept instead of relayed. Its content is that of the trace. */
export interface Capture {
  readonly id: string
  readonly traceId: string
  readonly projectId: string
  readonly captureReason: CaptureReason
  /** The destination that would have relayed; null for anonymous-project and no-route captures. */
  readonly destinationId: string | null
  readonly intendedFrom: string
  readonly intendedTo: readonly string[]
  /** Every address in headers and bodies; those of the bodies are added as soon as the message was read. */
  readonly addressesSeen: readonly string[]
  /** Those that only the body has, and where in the order of capture ids they were found. */
  readonly foundLater?: FoundLater | undefined
  readonly capturedAt: number
}

/** A virtual inbox. Every project begins with a catch-all with the pattern `*`. */
export interface Inbox {
  readonly id: string
  readonly projectId: string
  /** As `parsePattern` spells it; unique in the project. */
  readonly addressPattern: string
  readonly name: string
  /** Who is told of each message, once. */
  readonly notifyWebhookUrl?: string | undefined
  /** Days after which a message leaves the inbox; without it, those of the plan. */
  readonly retentionDays?: number | undefined
  readonly createdAt: number
}

export const captures = defineRecord<Capture>({
  name: 'capture',
  schema: z.strictObject({
    id: z.string(),
    traceId: z.string(),
    projectId: z.string(),
    captureReason: z.enum(captureReasons),
    destinationId: z.string().nullable(),
    intendedFrom: z.string(),
    intendedTo: z.array(z.string()),
    addressesSeen: z.array(z.string()),
    foundLater: z.strictObject({ place: z.string(), addresses: z.array(z.string()) }).optional(),
    capturedAt: z.int(),
  }),
  indexes: {
    project: (capture) => [[capture.projectId]],
    trace: (capture) => [[capture.traceId]],
    address: (capture) => [...arrivals(capture)].map(([pattern, at]) => [capture.projectId, pattern, ...at]),
  },
  projectOf: (capture) => capture.projectId,
})

export const inboxes = defineRecord<Inbox>({
  name: 'inbox',
  noun: 'virtual inbox',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    addressPattern: z.string(),
    name: z.string(),
    notifyWebhookUrl: z.string().optional(),
    retentionDays: z.int().optional(),
    createdAt: z.int(),
  }),
  isTracked: true,
  indexes: { notified: ({ projectId, notifyWebhookUrl }) => (notifyWebhookUrl === undefined ? [] : [[projectId]]) },
  unique: { pattern: (inbox) => [[inbox.projectId, inbox.addressPattern]] },
  projectOf: (inbox) => inbox.projectId,
})
