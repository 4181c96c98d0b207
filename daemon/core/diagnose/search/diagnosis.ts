/** Result types of the two diagnoses. */
import type { RefusalCategory } from '#config/mail/status-codes.ts'
import type { BounceClass } from '../../feedback/event.ts'
import type { TraceStatus } from '../../trace/states.ts'
import type { Related } from './related-refusals.ts'
import type { BounceStage, RefusalReply } from './refusal.ts'
import type { Window } from './time-window.ts'

export interface BounceDiagnosis {
  readonly traceId: string
  readonly recipient: string
  /** Null without a final refusal. */
  readonly bouncedAt: number | null
  readonly stage: BounceStage | null
  /** `smtp` for our own attempt; otherwise the format of the report. */
  readonly source: string | null
  readonly reply: RefusalReply | null
  readonly registry: { readonly name: string; readonly rfc: string | null } | null
  readonly category: RefusalCategory | 'complaint' | null
  /** Null if the message has not bounced. */
  readonly bounce: BounceClass | null
  /** The party at fault and the reason, in a few sentences. */
  readonly plainReason: string
  readonly nextActions: readonly string[]
  readonly suppress: {
    readonly recommended: boolean
    /** The recipient is suppressed now. */
    readonly done: boolean
    /** The feature `bounce_auto_suppress` of the organization is on. */
    readonly flag: boolean
    /** Why a recommended suppression does not exist, in one sentence; otherwise null. */
    readonly reason: string | null
  }
  /** `useful`: another send can succeed without any change. */
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
  /** Agent tool for the action, with its arguments. */
  readonly tool?: string | undefined
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/** A possible explanation. The most certain hypothesis determines the verdict of the diagnosis. */
export interface Hypothesis {
  /** Stable name, such as `destination_resting`. */
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
  readonly summary: string
  /** Most certain first. */
  readonly hypotheses: readonly Hypothesis[]
  /** Latest messages to the recipient. */
  readonly traces: readonly {
    readonly traceId: string
    readonly status: TraceStatus
    readonly subject: string
    readonly createdAt: number
  }[]
  /** Facts that were checked. */
  readonly checked: readonly string[]
  readonly notChecked: readonly { readonly what: string; readonly why: string }[]
}
