/** The trace: the record of one logical send, with its fate per recipient. Spec "Trace". */
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

/** Where a submission came in. */
export const doors = ['rest', 'smtp', 'publishable_key', 'mcp', 'form_notification', 'failure_notice'] as const
export type Door = (typeof doors)[number]

/** What decides in place of the mode of the destination: the token of an agent, a test of a template, a test of deliverability. */
export const outcomeCauses = ['agent', 'test', 'proof'] as const
export type OutcomeCause = (typeof outcomeCauses)[number]

/** Spec "Send response", `outcome`. */
const outcomes = ['relayed', 'captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route'] as const
export type Outcome = (typeof outcomes)[number]

/** The outcome of a message, or that it was refused because it was wrong (`validation_failed`). */
export type TraceOutcome = Outcome | 'refused'

const bounce = z.enum(['hard', 'soft', 'block']).nullable()

/** The entry of the suppression list that kept the message from a recipient, as it was then. */
const suppression = z.strictObject({
  id: z.string(),
  source: z.string(),
  reason: z.string().nullable(),
  /** Project that the entry came from; null for the organization. Absent for opt-outs, and in traces of earlier releases. */
  projectId: z.string().nullable().optional(),
  /** When it was noticed: at acceptance, or before a delivery attempt. */
  at: z.int(),
})
export type RecipientSuppression = Immutable<z.infer<typeof suppression>>

/** A report as far as the list of traces shows it; the record of the report has the rest. */
const report = z.strictObject({
  type: z.enum(reportTypes),
  at: z.int(),
  /** One plain sentence. */
  reason: z.string(),
  bounce,
})
export type RecipientReported = Immutable<z.infer<typeof report>>

/** The outcome of the message for one recipient. This is the accepted-once ledger: `sent` is never mailed again. */
const recipient = z.strictObject({
  address: z.string(),
  status: z.enum(traceStatuses),
  /** The last reply about this recipient, verbatim. */
  reply: z.strictObject({ code: z.int(), enhanced: z.string().optional(), text: z.string() }).optional(),
  /** A blind copy: no address field of the message names it, so what others can see must not either. */
  bcc: z.literal(true).optional(),
  /** There when the status is `suppressed`. */
  suppression: suppression.optional(),
  /** The return path of this recipient's own (VERP), the same in every attempt. */
  verp: z.string().optional(),
  /** With VERP, the reverse-path that the last attempt gave the provider; null when it took none. */
  returnPath: z.string().nullable().optional(),
  /** Attempts for this recipient whose outcome is unknown. */
  unknownAttempts: z.int().optional(),
  /** The report that made the status what it is; while it is `sent`, the last one of a delay. */
  report: report.optional(),
  /** The class of its bounce, whatever the status is; read it with `bounceOf`, as older traces have it in the report alone. */
  bounce: bounce.optional(),
  /** The number of the notice that reported it to the author, or will. */
  notice: z.int().optional(),
})
export type TraceRecipient = Immutable<z.infer<typeof recipient>>

/** What kind of bounce the recipient had; null without one. */
export const bounceOf = ({ bounce: own, report: reported }: Pick<TraceRecipient, 'bounce' | 'report'>): RecipientReported['bounce'] =>
  own ?? reported?.bounce ?? null

/** A replay or a retry that queued the trace again. */
const replay = z.strictObject({
  /** The replay; not there when this one trace was retried. */
  jobId: z.string().optional(),
  at: z.int(),
  /** Attempts made before it; the schedule of retries begins anew with it. */
  attempts: z.int(),
  destinationId: z.string(),
  /** How many recipients went again. */
  recipients: z.int(),
})
export type TraceReplay = Immutable<z.infer<typeof replay>>

/** The way of a message that a failover policy has moved. */
const failover = z.strictObject({
  /** The destination that routing or a replay chose. */
  primaryId: z.string(),
  /** Moves right after an attempt; the retry schedule does not count those attempts. */
  detours: z.int(),
  /** Moves without an attempt; the latest ones. */
  passes: z.array(z.strictObject({ at: z.int(), from: z.string(), to: z.string(), cause: z.string(), message: z.string() })),
})
export type TraceFailover = Immutable<z.infer<typeof failover>>

/** Why there is no return path for each recipient although it was asked for. */
const verpOffs = ['plan', 'flag', 'null_sender', 'no_domain'] as const

/** Return paths at `domain`, or why there are none, as the second half of a sentence; older traces have no code. */
const verp = z.union([z.strictObject({ domain: z.string() }), z.strictObject({ off: z.string(), code: z.enum(verpOffs).optional() })])
export type TraceVerp = Immutable<z.infer<typeof verp>>

/** Where a captured message stands in its inboxes; see `captureOf`. */
const capture = z.strictObject({
  id: z.string(),
  at: z.int(),
  /** Every address in headers and bodies; those of the bodies are added as soon as the message was read. */
  addressesSeen: z.array(z.string()),
  /** Those that only the body has, and where in the order of capture ids they were found. */
  foundLater: z.strictObject({ place: z.string(), addresses: z.array(z.string()) }).optional(),
  /** The send that it was released as, where to, when, and by which grant. */
  released: z.strictObject({ traceId: z.string(), destinationId: z.string(), at: z.int(), by: z.string() }).optional(),
})
export type TraceCapture = Immutable<z.infer<typeof capture>>

const attempt = z.looseObject({ number: z.int(), destinationId: z.string(), startedAt: z.int(), state: z.enum(['finished', 'unknown']) })
const isAttempt = (value: unknown): boolean => attempt.safeParse(value).success

const schema = z.strictObject({
  id: z.uuidv4(),
  projectId: z.string(),
  door: z.enum(doors),
  /** Id of the API key or SMTP credential that submitted it, or of the form that notifies by it. */
  submittedBy: z.string(),
  createdAt: z.int(),
  updatedAt: z.int(),
  /** The worst recipient's status. */
  status: z.enum(traceStatuses),
  outcome: z.enum([...outcomes, 'refused']),
  /** Why this outcome, in one sentence. */
  outcomeReason: z.string(),
  /** There where the mode of the destination did not decide. */
  outcomeCause: z.enum(outcomeCauses).optional(),
  /** Of a refused one, the code of the refusal; traces of releases before 2026-11-24 have none. */
  refusalCode: z.string().optional(),
  mailFrom: z.string(),
  /** There when a return path for each recipient was asked for. */
  verp: verp.optional(),
  recipients: z.array(recipient),
  headerFrom: z.string(),
  /** Raw Subject value: unfolded, encoded words not decoded. */
  subject: z.string(),
  messageId: z.string(),
  /** The destination that has it now. */
  destinationId: z.string().nullable(),
  failover: failover.optional(),
  /** `environment`: the one by which the destination was found. */
  route: z.strictObject({ by: z.string(), ruleId: z.string().nullable(), reason: z.string(), environment: z.string().optional() }),
  /** What it was rendered from, when it was. */
  template: z.strictObject({ id: z.string(), slug: z.string(), version: z.int() }).optional(),
  /** By what the sender finds it again; see `labelsOf`. */
  tags: z.array(z.string()).optional(),
  /** What the sender wants to have with it. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** Sent in the words of another service: which, and the fields of the request that have no effect here. */
  dialect: z
    .strictObject({
      of: z.string(),
      ignored: z.array(z.string()),
      /** The trace that the answer named, where it had room for one id and named another message of the request. */
      answeredId: z.string().optional(),
    })
    .optional(),
  /** There when openings or clicks were to be tracked. */
  tracking: traceTracking.optional(),
  /** The message has a link by which its recipient unsubscribes. */
  hasUnsubscribeLink: z.literal(true).optional(),
  /** The list that the link is about; read it with `listOf`, as older traces have none. */
  list: z.strictObject({ key: z.string(), name: z.string() }).optional(),
  /** The message as it is sent: as submitted, or as rewritten for tracking. */
  content: z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() }),
  /** Our trace headers, which go before the content; `X-Service-Ref` joins them on the way out. */
  prefix: z.string(),
  /** The DKIM keys that signed it; the signatures stand first in the prefix. */
  signedBy: z.array(z.strictObject({ domain: z.string(), selector: z.string() })).optional(),
  /** Files are attached to it, or it is one itself. */
  hasAttachment: z.literal(true).optional(),
  eightBit: z.boolean(),
  smtputf8: z.boolean(),
  /** Delivery attempts made. */
  attempts: z.int(),
  /** Attempts that ended after our final dot without a reply. */
  unknownAttempts: z.int(),
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: z.int().nullable(),
  /** The first attempt, once it has ended, where it is small; see `readAttempts`, which reads them all. */
  firstAttempt: z.custom<AttemptRecord>(isAttempt, 'is no attempt').optional(),
  replays: z.array(replay).optional(),
  /** There while it is held back in the queue. */
  held: heldBack.optional(),
  /** It was dropped while an attempt was under way: what that leaves queued goes to no one. */
  isDropped: z.literal(true).optional(),
  /** What people did with it in the queue; the latest ones. */
  queueActs: z.array(queueActDone).optional(),
  /** There once it was captured. */
  capture: capture.optional(),
  /** The captured message that it was released from. */
  releasedFrom: z.strictObject({ traceId: z.string(), captureId: z.string() }).optional(),
  /** When the caller asked for it to leave; absent in a send that leaves at once. */
  sendAt: z.int().optional(),
  /** Every addr-spec of the header, kept until a scheduled send is captured. */
  scheduledAddresses: z.array(z.string()).optional(),
  /** When the first attempt of a scheduled send began, or it was captured; from then on it cannot be canceled. */
  begunAt: z.int().optional(),
  /** There when a person decides, or decided, whether it goes. */
  approval: traceApproval.optional(),
  /** Gets a notice when the message does not reach a recipient; absent when no one does. */
  noticeTo: z.string().optional(),
  /** Notices to the author, in order. */
  notices: z.array(traceNotice).optional(),
  /** The trace that this message, a notice to an author, is about. */
  noticeOf: z.string().optional(),
  /** Who let a scheduled send leave before its time, when, and which time that was. */
  broughtForward: z.strictObject({ at: z.int(), by: z.string(), planned: z.int() }).optional(),
  /** Who gave a scheduled send another time, when, and which time it had: the first and the latest. */
  rescheduled: z.array(z.strictObject({ at: z.int(), by: z.string(), from: z.int() })).optional(),
  /** Who canceled a scheduled send (id of the API key), and when. */
  canceled: z.strictObject({ at: z.int(), by: z.string() }).optional(),
})

export type Trace = Immutable<z.infer<typeof schema>>

/** How reasons begin in traces of releases before 2026-11-24, which have no cause. */
const earlierCauses: readonly (readonly [RegExp, OutcomeCause])[] = [
  [/^(?:Captured, as|No destination matches, and) the token of this agent /, 'agent'],
  [/^(?:Captured, as|No destination matches, and) this is a test of a template/, 'test'],
  [/^A deliverability test of the destination /, 'proof'],
]

/** What decided in place of the mode of the destination, in older traces too. */
export const causeOf = ({ outcomeCause, outcomeReason }: Pick<Trace, 'outcomeCause' | 'outcomeReason'>): OutcomeCause | undefined =>
  outcomeCause ?? earlierCauses.find(([begins]) => begins.test(outcomeReason))?.[1]

/**
 * Scheduled sends that wait or were canceled, by status and for any, in the organization (empty) and in the project, by their time. One
 * that waits for an approval is none yet.
 */
export function scheduledUnder({ sendAt, begunAt, status, projectId }: Trace): (readonly (string | number)[])[] {
  if (sendAt === undefined || begunAt !== undefined || status === 'captured' || status === 'pending') return []
  return ['', projectId].flatMap((place) => ['', status].map((state) => [place, state, sendAt]))
}

/** Captured messages of a project lie in order of their capture ids, under the second, and all others in order of time, under the first. */
export const [inTime, captured] = [0, 1]

/** What is captured at its time lies elsewhere than a list of traces, which goes by when it was accepted, looks for it. */
export const isCapturedLate = ({ capture: its, sendAt }: Trace): boolean => its !== undefined && sendAt !== undefined

/** Captured at once: it is found by its addresses, which include its recipients. */
const isInInboxesOnly = (trace: Trace): boolean => trace.capture !== undefined && !isCapturedLate(trace)

/** The patterns of inboxes that a captured message is in, and its place in the order of each. */
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
  // there is none of version 1: what was before it is `earlierTraces`, and a release that knows only that does not start on these; the
  // next one has no tags, and would leave their rows behind; the one after would attempt what is held or dropped
  upgrades: [(old) => old, (old) => old, (old) => old],
  place: ({ projectId, capture: its, createdAt }) => (its ? [projectId, captured, its.id] : [projectId, inTime, createdAt]),
  indexes: {
    late: (trace) => (isCapturedLate(trace) ? [[trace.projectId, trace.createdAt]] : []),
    address: arrivalsOf,
    scheduled: scheduledUnder,
    // at most one for each attempt under way
    pendingHold: (trace) => (isHoldPending(trace) ? [[]] : []),
    awaiting: (trace) => (isAwaited(trace) ? [[trace.projectId, trace.createdAt]] : []),
    tag: ({ tags = noTags, createdAt }) => tags.map((tag) => [comparable(tag), createdAt]),
    recipient: (trace) => (isInInboxesOnly(trace) ? [] : trace.recipients.map(({ address }) => [foldAddress(address), trace.createdAt])),
  },
  lookups: { id: (trace) => [[trace.id]] },
  projectOf: (trace) => trace.projectId,
})
