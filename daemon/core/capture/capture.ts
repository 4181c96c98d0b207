/** Captured sends and the virtual inboxes they land in. Spec "Captured message", "Virtual inbox". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { arrivals } from './inbox-pattern.ts'

export const captureReasons = ['captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
export type CaptureReason = (typeof captureReasons)[number]

const captureSchema = z.strictObject({
  id: z.string(),
  traceId: z.string(),
  projectId: z.string(),
  captureReason: z.enum(captureReasons),
  /** The destination that would have relayed; null for anonymous-project and no-route captures. */
  destinationId: z.string().nullable(),
  intendedFrom: z.string(),
  intendedTo: z.array(z.string()),
  /** Every address in headers and bodies; those of the bodies are added as soon as the message was read. */
  addressesSeen: z.array(z.string()),
  /** Those that only the body has, and where in the order of capture ids they were found. */
  foundLater: z.strictObject({ place: z.string(), addresses: z.array(z.string()) }).optional(),
  capturedAt: z.int(),
})

/** A send that was kept instead of relayed. Its content is that of the trace. */
export type Capture = Immutable<z.infer<typeof captureSchema>>

const inboxSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** As `parsePattern` spells it; unique in the project. */
  addressPattern: z.string(),
  name: z.string(),
  /** Who is notified of each message, once. */
  notifyWebhookUrl: z.string().optional(),
  /** Days after which a message leaves the inbox; without it, those of the plan. */
  retentionDays: z.int().optional(),
  createdAt: z.int(),
})

/** A virtual inbox. Every project begins with a catch-all with the pattern `*`. */
export type Inbox = Immutable<z.infer<typeof inboxSchema>>

export const captures = defineRecord<Capture>({
  name: 'capture',
  schema: captureSchema,
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
  schema: inboxSchema,
  isTracked: true,
  indexes: { notified: ({ projectId, notifyWebhookUrl }) => (notifyWebhookUrl === undefined ? [] : [[projectId]]) },
  unique: { pattern: (inbox) => [[inbox.projectId, inbox.addressPattern]] },
  projectOf: (inbox) => inbox.projectId,
})

/** What was captured before this time is not in the inbox any more; -Infinity when the plan alone decides. */
export const retainedFrom = ({ retentionDays }: Pick<Inbox, 'retentionDays'>, nowMs: number): number =>
  retentionDays === undefined ? -Infinity : nowMs - retentionDays * 86_400_000
