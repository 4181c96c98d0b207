/** Captured sends and the virtual inboxes they land in. Spec "Captured message", "Virtual inbox". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../addresses.ts'

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
  readonly capturedAt: number
}

/** A virtual inbox. Every project has a catch-all with the pattern `*`. */
export interface Inbox {
  readonly id: string
  readonly projectId: string
  readonly addressPattern: string
  readonly name: string
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
    capturedAt: z.int(),
  }),
  indexes: {
    project: (capture) => [[capture.projectId]],
    trace: (capture) => [[capture.traceId]],
    recipient: (capture) => capture.intendedTo.map((address) => [capture.projectId, foldAddress(address)]),
  },
  projectOf: (capture) => capture.projectId,
})

export const inboxes = defineRecord<Inbox>({
  name: 'inbox',
  schema: z.strictObject({ id: z.string(), projectId: z.string(), addressPattern: z.string(), name: z.string(), createdAt: z.int() }),
  isTracked: true,
  unique: { pattern: (inbox) => [[inbox.projectId, inbox.addressPattern]] },
  projectOf: (inbox) => inbox.projectId,
})
