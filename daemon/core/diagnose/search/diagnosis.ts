/** The shapes of answers: why a message bounced, and why one did not arrive. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import type { BounceClass } from '../../feedback/event.ts'
import type { TraceStatus } from '../../trace/states.ts'
import type { Related } from './related-refusals.ts'
import type { BounceStage, RefusalReply } from './refusal.ts'
import type { Window } from './time-window.ts'

export interface BounceDiagnosis {
  readonly traceId: string
  readonly recipient: string
  /** Null while nothing is final. */
  readonly bouncedAt: number | null
  readonly stage: BounceStage | null
  /** Who reported it: `smtp` is our own attempt, all others are formats of reports. */
  readonly source: string | null
  readonly reply: RefusalReply | null
  readonly registry: { readonly name: string; readonly rfc: string | null } | null
  readonly category: RefusalCategory | 'complaint' | null
  /** Null when the message has not bounced. */
  readonly bounce: BounceClass | null
  /** Whose fault it is, and why, in a few sentences. */
  readonly plainReason: string
  readonly nextActions: readonly string[]
  readonly suppress: {
    readonly recommended: boolean
    /** The recipient is on the suppression list now. */
    readonly done: boolean
    /** Bounces and complaints suppress by themselves in this organization. */
    readonly flag: boolean
    /** Why it is recommended and not done, in one sentence; null otherwise. */
    readonly reason: string | null
  }
  /** `useful`: sending again can work without any change. */
  readonly retry: { readonly useful: boolean; readonly when: string | null }
  readonly provider: string | null
  readonly providerLink: string | null
  readonly related: Related
  readonly isRawAvailable: boolean
}

export const missingVerdicts = [
  ...['not_sent', 'captured', 'suppressed', 'scheduled', 'in_progress', 'deferred', 'bounced', 'accepted_by_remote', 'unknown'],
] as const
export type MissingVerdict = (typeof missingVerdicts)[number]

export interface Evidence {
  readonly kind: 'trace' | 'attempt' | 'reply' | 'report' | 'suppression' | 'near_miss' | 'dns' | 'domain_check' | 'opened' | 'usage'
  readonly traceId?: string | undefined
  readonly at?: number | undefined
  readonly detail: string
}

export interface NextAction {
  readonly text: string
  /** An agent tool that does it, and what it takes. */
  readonly tool?: string | undefined
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/** A possible answer. The verdict of the most certain one is that of the diagnosis. */
export interface Hypothesis {
  /** A stable name, such as `destination_resting`. */
  readonly id: string
  readonly verdict: MissingVerdict
  /** From 0 to 1. */
  readonly confidence: number
  readonly explanation: string
  readonly evidence: readonly Evidence[]
  readonly nextAction: NextAction
}

export interface MissingDiagnosis {
  readonly recipient: string
  readonly window: Window
  readonly verdict: MissingVerdict
  readonly confidence: number
  /** One sentence. */
  readonly summary: string
  /** The most certain one first. */
  readonly hypotheses: readonly Hypothesis[]
  /** The latest messages to the recipient. */
  readonly traces: readonly {
    readonly traceId: string
    readonly status: TraceStatus
    readonly subject: string
    readonly createdAt: number
  }[]
  /** What was looked at. */
  readonly checked: readonly string[]
  readonly notChecked: readonly { readonly what: string; readonly why: string }[]
}
