/** Captured sends and the virtual inboxes they land in. Spec "Captured message", "Virtual inbox". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { timeOfId } from '../trace/arrivals.ts'
import type { Trace, TraceCapture } from '../trace/trace.ts'
import { catchAll } from './inbox-pattern.ts'

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
  readonly foundLater?: TraceCapture['foundLater']
  readonly released?: TraceCapture['released']
  readonly capturedAt: number
}

/** The capture of a trace; undefined where it was not captured. */
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

/** What the query of the address for notifications is sealed for; see `SecretBox.seal`. */
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

/** What was captured before this time is not in the inbox any more; -Infinity when the plan alone decides. */
export const retainedFrom = ({ retentionDays }: Pick<Inbox, 'retentionDays'>, nowMs: number): number =>
  retentionDays === undefined ? -Infinity : nowMs - retentionDays * 86_400_000

/** In milliseconds since the epoch; not before that of an earlier capture, although the clock was set back. */
export const timeOfCapture = ({ capture, createdAt }: Trace): number => (capture ? timeOfId(capture.id) : createdAt)

/** Whether every inbox that holds a capture has let it go by now; `patterns` are those under which it is found. */
export function isLetGo(its: readonly Inbox[], patterns: ReadonlySet<string>, capturedAt: number, nowMs: number): boolean {
  const holding = its.filter(({ addressPattern }) => addressPattern === catchAll || patterns.has(addressPattern))
  return holding.length > 0 && holding.every((inbox) => capturedAt < retainedFrom(inbox, nowMs))
}
