/** The trace: record of one logical send, with the outcome for each recipient. Spec "Trace". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../addresses.ts'
import { comparable } from './comparable.ts'
import { arrivals } from './arrivals.ts'
import type { AttemptRecord } from './attempt-record.ts'
import { traceStatuses } from './states.ts'
import { reportTypes } from './trace-report.ts'
import { isAwaited, traceApproval } from './approval/trace-approval.ts'
import { traceNotice } from './notices/trace-notice.ts'
import { traceTracking } from './trace-tracking.ts'
import { heldBack, isHoldPending, queueActDone } from './acts/act-record.ts'

/** Entry point of a submission. */
export const doors = ['rest', 'smtp', 'publishable_key', 'mcp', 'form_notification', 'failure_notice'] as const
export type Door = (typeof doors)[number]

/** Causes that override the mode of the destination: an agent's token, a template test, a deliverability test. */
export const outcomeCauses = ['agent', 'test', 'proof'] as const
export type OutcomeCause = (typeof outcomeCauses)[number]

/** Spec "Send response", `outcome`. */
const outcomes = ['relayed', 'captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
export type Outcome = (typeof outcomes)[number]

/** The outcome of a message, or `refused` for an invalid request (`validation_failed`). */
export type TraceOutcome = Outcome | 'refused'

const bounce = z.enum(['hard', 'soft', 'block']).nullable()

/** Suppression entry that prevented delivery to a recipient, at that time. */
const suppression = z.strictObject({
  id: z.string(),
  source: z.string(),
  reason: z.string().nullable(),
  /** Project of the entry; null for the organization. Absent for opt-outs, and in traces of earlier releases. */
  projectId: z.string().nullable().optional(),
  /** Time of the check: at acceptance, or before a delivery attempt. */
  at: z.int(),
})
export type RecipientSuppression = Immutable<z.infer<typeof suppression>>

/** The part of a report that trace lists show; the report record has the rest. */
const report = z.strictObject({
  type: z.enum(reportTypes),
  at: z.int(),
  /** One plain sentence. */
  reason: z.string(),
  bounce,
})
export type RecipientReported = Immutable<z.infer<typeof report>>

/** The outcome for one recipient. This is the accepted-once ledger: `sent` is never mailed again. */
const recipient = z.strictObject({
  address: z.string(),
  status: z.enum(traceStatuses),
  /** Last reply about this recipient, verbatim. */
  reply: z.strictObject({ code: z.int(), enhanced: z.string().optional(), text: z.string() }).optional(),
  /** Blind copy: no address field of the message names it, so other recipients must not see it. */
  bcc: z.literal(true).optional(),
  /** Set if the status is `suppressed`. */
  suppression: suppression.optional(),
  /** VERP return path of this recipient, equal in every attempt. */
  verp: z.string().optional(),
  /** With VERP, the reverse-path of the last attempt; null if the provider accepts none. */
  returnPath: z.string().nullable().optional(),
  /** Attempts for this recipient with an unknown outcome. */
  unknownAttempts: z.int().optional(),
  /** The report that set the status; while `sent`, the last report of a delay. */
  report: report.optional(),
  /** Class of the bounce, for any status. Read it with `bounceOf`, because older traces only have it in the report. */
  bounce: bounce.optional(),
  /** Number of the notice that reports it to the author. */
  notice: z.int().optional(),
})
export type TraceRecipient = Immutable<z.infer<typeof recipient>>

/** Returns the bounce class of the recipient, or null. */
export const bounceOf = ({ bounce: own, report: reported }: Pick<TraceRecipient, 'bounce' | 'report'>): RecipientReported['bounce'] =>
  own ?? reported?.bounce ?? null

/** A replay or a retry that queued the trace again. */
const replay = z.strictObject({
  /** The replay job; absent for a retry of a single trace. */
  jobId: z.string().optional(),
  at: z.int(),
  /** Number of attempts before the replay, which restarts the retry schedule. */
  attempts: z.int(),
  destinationId: z.string(),
  /** Number of recipients queued again. */
  recipients: z.int(),
})
export type TraceReplay = Immutable<z.infer<typeof replay>>

/** Failover of a message. */
const failover = z.strictObject({
  /** The destination that routing or a replay chose. */
  primaryId: z.string(),
  /** Number of moves directly after an attempt, without a delay. The retry schedule does not count these attempts. */
  detours: z.int(),
  /** Latest moves that skipped an attempt. */
  passes: z.array(z.strictObject({ at: z.int(), from: z.string(), to: z.string(), cause: z.string(), message: z.string() })),
})
export type TraceFailover = Immutable<z.infer<typeof failover>>

/** Why a VERP request has no effect. */
const verpOffs = ['plan', 'flag', 'null_sender', 'no_domain'] as const

/** Domain of the return paths, or the reason for their absence as a clause; older traces have no code. */
const verp = z.union([z.strictObject({ domain: z.string() }), z.strictObject({ off: z.string(), code: z.enum(verpOffs).optional() })])
export type TraceVerp = Immutable<z.infer<typeof verp>>

/** Position of a captured message in its inboxes; see `captureOf`. */
const capture = z.strictObject({
  id: z.string(),
  at: z.int(),
  /** All addresses in headers and bodies. Body addresses are added once the message has been parsed. */
  addressesSeen: z.array(z.string()),
  /** Addresses found only in the body, and their position in the order of capture ids. */
  foundLater: z.strictObject({ place: z.string(), addresses: z.array(z.string()) }).optional(),
  /** The released send with its destination, time and credential. */
  released: z.strictObject({ traceId: z.string(), destinationId: z.string(), at: z.int(), by: z.string() }).optional(),
})
export type TraceCapture = Immutable<z.infer<typeof capture>>

const attempt = z.looseObject({ number: z.int(), destinationId: z.string(), startedAt: z.int(), state: z.enum(['finished', 'unknown']) })
const isAttempt = (value: unknown): boolean => attempt.safeParse(value).success

const schema = z.strictObject({
  id: z.uuidv4(),
  projectId: z.string(),
  door: z.enum(doors),
  /** Id of the API key or SMTP credential that submitted the message, or of the form that sent it as a notification. */
  submittedBy: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
  /** The worst recipient's status. */
  status: z.enum(traceStatuses),
  outcome: z.enum([...outcomes, 'refused']),
  /** Reason of the outcome, in one sentence. */
  outcomeReason: z.string(),
  /** Set if the mode of the destination did not decide. */
  outcomeCause: z.enum(outcomeCauses).optional(),
  /** Code of the refusal; absent in traces of releases before 2026-11-24. */
  refusalCode: z.string().optional(),
  mailFrom: z.string(),
  /** Set if VERP was requested. */
  verp: verp.optional(),
  recipients: z.array(recipient),
  headerFrom: z.string(),
  /** Raw Subject value, unfolded, with encoded words. */
  subject: z.string(),
  messageId: z.string(),
  /** Current destination. */
  destinationId: z.string().nullable(),
  failover: failover.optional(),
  /** `environment`: the environment that determined the destination. */
  route: z.strictObject({ by: z.string(), ruleId: z.string().nullable(), reason: z.string(), environment: z.string().optional() }),
  /** Template of the message, if any. */
  template: z.strictObject({ id: z.string(), slug: z.string(), version: z.int() }).optional(),
  /** Tags for searches by the sender; see `labelsOf`. */
  tags: z.array(z.string()).optional(),
  /** Metadata of the sender. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** The other vendor's API format that the request used, and the ignored fields of the request. */
  dialect: z
    .strictObject({
      of: z.string(),
      ignored: z.array(z.string()),
      /** Trace id in the response, if the response only had room for another message's id. */
      answeredId: z.string().optional(),
    })
    .optional(),
  /** Set if tracking of opens or clicks was requested. */
  tracking: traceTracking.optional(),
  /** The message has an unsubscribe link. */
  hasUnsubscribeLink: z.literal(true).optional(),
  /** List of the link. Read it with `listOf`, because older traces have no list. */
  list: z.strictObject({ key: z.string(), name: z.string() }).optional(),
  /** The content as sent: as submitted, or rewritten for tracking. */
  content: z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() }),
  /** Our trace headers before the content. Delivery adds `X-Service-Ref`. */
  prefix: z.string(),
  /** DKIM keys of the signatures, which are first in the prefix. */
  signedBy: z.array(z.strictObject({ domain: z.string(), selector: z.string() })).optional(),
  /** The message has attachments, or is a file. */
  hasAttachment: z.literal(true).optional(),
  eightBit: z.boolean(),
  smtputf8: z.boolean(),
  /** Number of delivery attempts. */
  attempts: z.int(),
  /** Attempts that ended without a reply after our final dot. */
  unknownAttempts: z.int(),
  /** Due time of the next attempt; null without one. */
  nextAttemptAt: z.int().nullable(),
  /** The first attempt after its end, if it is small; see `readAttempts`, which reads all attempts. */
  firstAttempt: z.custom<AttemptRecord>(isAttempt, 'is no attempt').optional(),
  replays: z.array(replay).optional(),
  /** Set while the message is held in the queue. */
  held: heldBack.optional(),
  /** Dropped during an attempt; recipients still queued after it are canceled. */
  isDropped: z.literal(true).optional(),
  /** Latest acts of people on the queued message. */
  queueActs: z.array(queueActDone).optional(),
  /** Set once the message was captured. */
  capture: capture.optional(),
  /** The captured message that was released as this send. */
  releasedFrom: z.strictObject({ traceId: z.string(), captureId: z.string() }).optional(),
  /** Requested send time; absent for an immediate send. */
  sendAt: z.int().optional(),
  /** Addresses of the header, stored until a scheduled send is captured. */
  scheduledAddresses: z.array(z.string()).optional(),
  /** Start of the first attempt or capture of a scheduled send. It can then no longer be canceled. */
  begunAt: z.int().optional(),
  /** Set if the message needs or needed approval by a person. */
  approval: traceApproval.optional(),
  /** Address for notices about failed recipients; absent for no notices. */
  noticeTo: z.string().optional(),
  /** Notices to the author, in order. */
  notices: z.array(traceNotice).optional(),
  /** Trace that this message, a notice to an author, is about. */
  noticeOf: z.string().optional(),
  /** Early send of a scheduled message: time, author and the planned time. */
  broughtForward: z.strictObject({ at: z.int(), by: z.string(), planned: z.int() }).optional(),
  /** Changes of a scheduled time: time, author and the previous value. The first and the latest changes. */
  rescheduled: z.array(z.strictObject({ at: z.int(), by: z.string(), from: z.int() })).optional(),
  /** Cancellation of a scheduled send: time and API key id. */
  canceled: z.strictObject({ at: z.int(), by: z.string() }).optional(),
})

export type Trace = Immutable<z.infer<typeof schema>>

/** First words of reasons in traces of releases before 2026-11-24, which have no cause. */
const earlierCauses: readonly (readonly [RegExp, OutcomeCause])[] = [
  [/^(?:Captured, as|No destination matches, and) the token of this agent /, 'agent'],
  [/^(?:Captured, as|No destination matches, and) this is a test of a template/, 'test'],
  [/^A deliverability test of the destination /, 'proof'],
]

/** Returns the cause that overrides the destination's mode, also for older traces. */
export const causeOf = ({ outcomeCause, outcomeReason }: Pick<Trace, 'outcomeCause' | 'outcomeReason'>): OutcomeCause | undefined =>
  outcomeCause ?? earlierCauses.find(([begins]) => begins.test(outcomeReason))?.[1]

/**
 * Index of waiting and canceled scheduled sends by time: for each status and any status, in the organization (empty) and the project. Sends
 * that wait for approval are excluded.
 */
export function scheduledUnder({ sendAt, begunAt, status, projectId }: Trace): (readonly (string | number)[])[] {
  if (sendAt === undefined || begunAt !== undefined || status === 'captured' || status === 'pending') return []
  return ['', projectId].flatMap((place) => ['', status].map((state) => [place, state, sendAt]))
}

/** Key areas of a project: messages in order of time, and captured messages in order of their capture ids. */
export const [inTime, captured] = [0, 1]

/** Returns true for a scheduled send that was captured at its time. Its key has the capture id, but lists order by acceptance time. */
export const isCapturedLate = ({ capture: its, sendAt }: Trace): boolean => its !== undefined && sendAt !== undefined

/** Returns true for an immediate capture, which is found by its addresses, including its recipients. */
const isInInboxesOnly = (trace: Trace): boolean => trace.capture !== undefined && !isCapturedLate(trace)

/** Returns the inbox patterns of a captured message and its position in each. */
function arrivalsOf({ capture: its, recipients, projectId }: Trace): (readonly string[])[] {
  if (!its) return []
  const addressed = { ...its, intendedTo: recipients.map(({ address }) => address) }
  return [...arrivals(addressed)].map(([pattern, later]) => [projectId, pattern, ...later, its.id])
}

const noTags: readonly string[] = []

export const traces = defineRecord<Trace>({
  name: 'send',
  noun: 'trace',
  schema,
  // No record has version 1: earlier records are `earlierTraces`, and their release refuses to start on newer records. A release with
  // version 2 would leave rows of tags behind. A release with version 3 would attempt held or dropped messages.
  upgrades: [(old) => old, (old) => old, (old) => old],
  place: ({ projectId, capture: its, createdAt }) => (its ? [projectId, captured, its.id] : [projectId, inTime, createdAt]),
  indexes: {
    late: (trace) => (isCapturedLate(trace) ? [[trace.projectId, trace.createdAt]] : []),
    address: arrivalsOf,
    scheduled: scheduledUnder,
    // at most one for each attempt in flight
    pendingHold: (trace) => (isHoldPending(trace) ? [[]] : []),
    awaiting: (trace) => (isAwaited(trace) ? [[trace.projectId, trace.createdAt]] : []),
    tag: ({ tags = noTags, createdAt }) => tags.map((tag) => [comparable(tag), createdAt]),
    recipient: (trace) => (isInInboxesOnly(trace) ? [] : trace.recipients.map(({ address }) => [foldAddress(address), trace.createdAt])),
  },
  lookups: { id: (trace) => [[trace.id]] },
  projectOf: (trace) => trace.projectId,
})
