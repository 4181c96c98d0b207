/** The trace: the record of one logical send, with its fate per recipient. Spec "Trace". */
import type { ContentRef } from '#store/content.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../addresses.ts'
import type { FailoverNote, PeerReply } from './attempt-record.ts'
import { traceStatuses, type TraceStatus } from './states.ts'
import { reportTypes, type ReportType } from './trace-report.ts'
import { traceTracking, type TraceTracking } from './trace-tracking.ts'

/** Where a submission came in. */
export const doors = ['rest', 'smtp', 'publishable_key'] as const
export type Door = (typeof doors)[number]

/** Spec "Send response", `outcome`. */
export type Outcome = 'relayed' | 'captured.anonymous_project' | 'captured.sandbox_destination' | 'captured.no_route'

/** The outcome of a message, or that it was refused because it was wrong (`validation_failed`). */
export type TraceOutcome = Outcome | 'refused'

/** The entry of the suppression list that kept the message from a recipient, as it was then. */
export interface RecipientSuppression {
  readonly id: string
  readonly source: string
  readonly reason: string | null
  /** When it was noticed: at acceptance, or before a delivery attempt. */
  readonly at: number
}

/** The outcome of the message for one recipient. This is the accepted-once ledger: `sent` is never mailed again. */
export interface TraceRecipient {
  readonly address: string
  readonly status: TraceStatus
  /** The last reply about this recipient, verbatim. */
  readonly reply?: PeerReply | undefined
  /** A blind copy: no address field of the message names it, so what others can see must not either. */
  readonly bcc?: true | undefined
  /** There when the status is `suppressed`. */
  readonly suppression?: RecipientSuppression | undefined
  /** The return path of this recipient's own (VERP), the same in every attempt. */
  readonly verp?: string | undefined
  /** With VERP, the reverse-path that the last attempt gave the provider; null when it took none. */
  readonly returnPath?: string | null | undefined
  /** Attempts for this recipient whose outcome is unknown. */
  readonly unknownAttempts?: number | undefined
  /** The report that made the status what it is; while it is `sent`, the last one that told of a delay. */
  readonly report?: RecipientReported | undefined
  /** The class of its bounce, whatever the status is; read it with `bounceOf`, as older traces have it in the report alone. */
  readonly bounce?: RecipientReported['bounce'] | undefined
}

/** What kind of bounce the recipient had; null without one. */
export const bounceOf = ({ bounce, report }: Pick<TraceRecipient, 'bounce' | 'report'>): RecipientReported['bounce'] =>
  bounce ?? report?.bounce ?? null

/** A report as far as the list of traces tells it; the record of the report has the rest. */
export interface RecipientReported {
  readonly type: ReportType
  readonly at: number
  /** One plain sentence. */
  readonly reason: string
  readonly bounce: 'hard' | 'soft' | 'block' | null
}

/** A replay or a retry that queued the trace again. */
export interface TraceReplay {
  /** The replay; not there when this one trace was retried. */
  readonly jobId?: string | undefined
  readonly at: number
  /** Attempts made before it; the schedule of retries begins anew with it. */
  readonly attempts: number
  readonly destinationId: string
  /** How many recipients went again. */
  readonly recipients: number
}

/** The way of a message that a failover policy has moved. */
export interface TraceFailover {
  /** The destination that routing or a replay chose. */
  readonly primaryId: string
  /** Moves right after an attempt; the retry schedule does not count those attempts. */
  readonly detours: number
  /** Moves without an attempt; the latest ones. */
  readonly passes: readonly (FailoverNote & { readonly at: number; readonly from: string })[]
}

/** Return paths at `domain`, or why there are none although they were asked for, as the second half of a sentence. */
export type TraceVerp = { readonly domain: string } | { readonly off: string }

export interface Trace {
  readonly id: string
  readonly projectId: string
  readonly door: Door
  /** Id of the API key or SMTP credential that submitted it. */
  readonly submittedBy: string
  readonly createdAt: number
  readonly updatedAt: number
  /** The worst recipient's status. */
  readonly status: TraceStatus
  readonly outcome: TraceOutcome
  /** Why this outcome, in one sentence. */
  readonly outcomeReason: string
  readonly mailFrom: string
  /** There when a return path for each recipient was asked for. */
  readonly verp?: TraceVerp | undefined
  readonly recipients: readonly TraceRecipient[]
  readonly headerFrom: string
  /** Raw Subject value: unfolded, encoded words not decoded. */
  readonly subject: string
  readonly messageId: string
  /** The destination that has it now. */
  readonly destinationId: string | null
  readonly failover?: TraceFailover | undefined
  /** `environment`: the one by which the destination was found. */
  readonly route: {
    readonly by: string
    readonly ruleId: string | null
    readonly reason: string
    readonly environment?: string | undefined
  }
  /** What it was rendered from, when it was. */
  readonly template?: { readonly id: string; readonly slug: string; readonly version: number } | undefined
  /** There when openings or clicks were to be tracked. */
  readonly tracking?: TraceTracking | undefined
  /** The message as it is sent: as submitted, or as rewritten for tracking. */
  /** The message has a link by which its recipient unsubscribes. */
  readonly hasUnsubscribeLink?: true | undefined
  /** The list that the link is about; read it with `listOf`, as older traces have none. */
  readonly list?: { readonly key: string; readonly name: string } | undefined
  readonly content: ContentRef
  /** Our trace headers, which go before the content; `X-Service-Ref` joins them on the way out. */
  readonly prefix: string
  /** The DKIM keys that signed it; the signatures stand first in the prefix. */
  readonly signedBy?: readonly { readonly domain: string; readonly selector: string }[] | undefined
  readonly eightBit: boolean
  readonly smtputf8: boolean
  /** Delivery attempts made. */
  readonly attempts: number
  /** Attempts that ended after our final dot without a reply. */
  readonly unknownAttempts: number
  /** When the next attempt is due; null when none is. */
  readonly nextAttemptAt: number | null
  readonly replays?: readonly TraceReplay[] | undefined
  /** When the caller asked for it to leave; absent in a send that leaves at once. */
  readonly sendAt?: number | undefined
  /** Every addr-spec of the header, kept until a scheduled send is captured. */
  readonly scheduledAddresses?: readonly string[] | undefined
  /** When the first attempt of a scheduled send began, or it was captured; from then on it cannot be canceled. */
  readonly begunAt?: number | undefined
  /** Who canceled a scheduled send (id of the API key), and when. */
  readonly canceled?: { readonly at: number; readonly by: string } | undefined
}

const reply = z.strictObject({ code: z.int(), enhanced: z.string().optional(), text: z.string() })
const suppression = z.strictObject({
  id: z.string(),
  source: z.string(),
  reason: z.string().nullable(),
  at: z.int(),
})

/** Scheduled sends that wait or were canceled, by status and for any, in the organization (empty) and in the project, by their time. */
function scheduledUnder({ sendAt, begunAt, status, projectId }: Trace): (readonly (string | number)[])[] {
  if (sendAt === undefined || begunAt !== undefined || status === 'captured') return []
  return ['', projectId].flatMap((place) => ['', status].map((state) => [place, state, sendAt]))
}

export const traces = defineRecord<Trace>({
  name: 'trace',
  schema: z.strictObject({
    id: z.uuidv4(),
    projectId: z.string(),
    door: z.enum(doors),
    submittedBy: z.string(),
    createdAt: z.int(),
    updatedAt: z.int(),
    status: z.enum(traceStatuses),
    outcome: z.enum(['relayed', 'captured.anonymous_project', 'captured.sandbox_destination', 'captured.no_route', 'refused']),
    outcomeReason: z.string(),
    mailFrom: z.string(),
    verp: z.union([z.strictObject({ domain: z.string() }), z.strictObject({ off: z.string() })]).optional(),
    recipients: z.array(
      z.strictObject({
        address: z.string(),
        status: z.enum(traceStatuses),
        reply: reply.optional(),
        bcc: z.literal(true).optional(),
        suppression: suppression.optional(),
        verp: z.string().optional(),
        returnPath: z.string().nullable().optional(),
        unknownAttempts: z.int().optional(),
        report: z
          .strictObject({
            type: z.enum(reportTypes),
            at: z.int(),
            reason: z.string(),
            bounce: z.enum(['hard', 'soft', 'block']).nullable(),
          })
          .optional(),
        bounce: z.enum(['hard', 'soft', 'block']).nullable().optional(),
      }),
    ),
    headerFrom: z.string(),
    subject: z.string(),
    messageId: z.string(),
    destinationId: z.string().nullable(),
    failover: z
      .strictObject({
        primaryId: z.string(),
        detours: z.int(),
        passes: z.array(z.strictObject({ at: z.int(), from: z.string(), to: z.string(), cause: z.string(), message: z.string() })),
      })
      .optional(),
    route: z.strictObject({ by: z.string(), ruleId: z.string().nullable(), reason: z.string(), environment: z.string().optional() }),
    template: z.strictObject({ id: z.string(), slug: z.string(), version: z.int() }).optional(),
    tracking: traceTracking.optional(),
    hasUnsubscribeLink: z.literal(true).optional(),
    list: z.strictObject({ key: z.string(), name: z.string() }).optional(),
    content: z.strictObject({ id: z.string(), size: z.int(), sha256: z.string(), rows: z.int() }),
    prefix: z.string(),
    signedBy: z.array(z.strictObject({ domain: z.string(), selector: z.string() })).optional(),
    eightBit: z.boolean(),
    smtputf8: z.boolean(),
    attempts: z.int(),
    unknownAttempts: z.int(),
    nextAttemptAt: z.int().nullable(),
    replays: z
      .array(
        z.strictObject({ jobId: z.string().optional(), at: z.int(), attempts: z.int(), destinationId: z.string(), recipients: z.int() }),
      )
      .optional(),
    sendAt: z.int().optional(),
    scheduledAddresses: z.array(z.string()).optional(),
    begunAt: z.int().optional(),
    canceled: z.strictObject({ at: z.int(), by: z.string() }).optional(),
  }),
  indexes: {
    time: (trace) => [[trace.createdAt]],
    project: (trace) => [[trace.projectId, trace.createdAt]],
    scheduled: scheduledUnder,
    recipient: (trace) => trace.recipients.map(({ address }) => [foldAddress(address), trace.createdAt]),
  },
  lookups: { id: (trace) => [[trace.id]] },
  projectOf: (trace) => trace.projectId,
})
