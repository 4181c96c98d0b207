/** Captured sends and their virtual inboxes. Spec "Captured message", "Virtual inbox". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { timeOfId } from '../trace/arrivals.ts'
import type { Trace, TraceCapture } from '../trace/trace.ts'
import { catchAll } from './inbox-pattern.ts'

export const captureReasons = ['captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
export type CaptureReason = (typeof captureReasons)[number]

/** A send that was stored instead of relayed. Its content is the trace's. */
export interface Capture {
  readonly id: string
  readonly traceId: string
  readonly projectId: string
  readonly captureReason: CaptureReason
  /** The destination that would have relayed; null for anonymous-project and no-route captures. */
  readonly destinationId: string | null
  readonly intendedFrom: string
  readonly intendedTo: readonly string[]
  /** All addresses in headers and bodies. Body addresses are added once the message has been parsed. */
  readonly addressesSeen: readonly string[]
  readonly foundLater?: TraceCapture['foundLater']
  readonly released?: TraceCapture['released']
  readonly capturedAt: number
}

/** Returns the capture of a trace, or undefined. */
export function captureOf(trace: Trace): Capture | undefined {
  const { capture, outcome, destinationId, headerFrom, mailFrom, recipients } = trace
  if (!capture || outcome === 'relayed' || outcome === 'refused') return undefined
  const { id, at, ...addresses } = capture
  return {
    ...{ id, traceId: trace.id, projectId: trace.projectId, captureReason: outcome },
    destinationId: outcome === 'captured.sandbox_destination' ? destinationId : null,
    ...{ intendedFrom: headerFrom || mailFrom, intendedTo: recipients.map(({ address }) => address) },
    ...addresses,
    capturedAt: at,
  }
}

const inboxSchema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** In the spelling of `parsePattern`; unique in the project. */
  addressPattern: z.string(),
  name: z.string(),
  /** Webhook for one notification per message. */
  notifyWebhookUrl: z.string().optional(),
  /** Days until a message leaves the inbox; defaults to the plan's retention. */
  retentionDays: z.int().optional(),
  createdAt: z.int(),
})

/** A virtual inbox. Every project begins with a catch-all with the pattern `*`. */
export type Inbox = Immutable<z.infer<typeof inboxSchema>>

/** Sealing context of the webhook URL's query; see `SecretBox.seal`. */
export const notifyContext = (inboxId: string): string => `inbox/${inboxId}/notify`

export const inboxes = defineRecord<Inbox>({
  name: 'inbox',
  noun: 'virtual inbox',
  schema: inboxSchema,
  isTracked: true,
  indexes: { notified: ({ projectId, notifyWebhookUrl }) => (notifyWebhookUrl === undefined ? [] : [[projectId]]) },
  unique: { pattern: (inbox) => [[inbox.projectId, inbox.addressPattern]] },
  projectOf: (inbox) => inbox.projectId,
})

/** Returns the earliest capture time in the inbox; -Infinity if only the plan limits retention. */
export const retainedFrom = ({ retentionDays }: Pick<Inbox, 'retentionDays'>, nowMs: number): number =>
  retentionDays === undefined ? -Infinity : nowMs - retentionDays * 86_400_000

/** Returns milliseconds since the epoch, in the order of captures even if the clock was set back. */
export const timeOfCapture = ({ capture, createdAt }: Trace): number => (capture ? timeOfId(capture.id) : createdAt)

/** Returns true if the retention of every matching inbox has ended. `patterns` match the capture. */
export function isLetGo(its: readonly Inbox[], patterns: ReadonlySet<string>, capturedAt: number, nowMs: number): boolean {
  const holding = its.filter(({ addressPattern }) => addressPattern === catchAll || patterns.has(addressPattern))
  return holding.length > 0 && holding.every((inbox) => capturedAt < retainedFrom(inbox, nowMs))
}
