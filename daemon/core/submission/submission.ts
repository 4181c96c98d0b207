/** What a door hands to the core when it submits a message, and what it gets back. */
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { MailingList } from '../feedback/suppression/opt-out.ts'
import type { LinkScope } from '../feedback/suppression/unsubscribes.ts'
import type { Window } from '../visitors/stored-windows.ts'
import type { Refusal } from '../refusals.ts'
import type { RouteQuestion } from '../routing/match/match.ts'
import type { SandboxCause } from '../routing/match/outcome.ts'
import type { Labels } from './labels.ts'
import type { Door, Outcome, Trace } from '../trace/trace.ts'
import type { TrackingWish } from '../tracking/message-tracking.ts'

/** Facts about the content that the door or the composer knows; nothing here needs MIME parsing. */
export interface ContentFacts {
  /** Lines that go before the content as submitted (our trace headers), each ended by CRLF. */
  readonly prefix: string
  /** The raw Subject value, unfolded but not decoded; empty when there is none. */
  readonly subject: string
  readonly messageId: string
  /** The addr-spec of the header From; empty when it cannot be read. */
  readonly headerFrom: string
  /** Every addr-spec in the header block, lower-cased. */
  readonly headerAddresses: readonly string[]
  readonly eightBit: boolean
  /** Files are attached, or the message is one itself, as far as its header says. */
  readonly hasAttachment?: boolean | undefined
  /** The client requested SMTPUTF8 (RFC 6531 §3.4). Octets over 127 in header fields alone require nothing of the next server. */
  readonly smtpUtf8?: boolean | undefined
}

/** A message that asks to be taken. Addresses have passed the strict grammar of `addresses.ts`. */
export interface Submission {
  readonly door: Door
  readonly principal: Principal
  readonly projectId: string
  readonly traceId: string
  /** RFC 5321 §2.3.1 reverse-path. */
  readonly mailFrom: string
  readonly rcptTo: readonly string[]
  readonly facts: ContentFacts
  readonly draft: ContentDraft
  /** The caller chose the destination (REST `destination_id`, SMTP credential). */
  readonly destinationId?: string | undefined
  /** In place of a destination, by the same: the destination of this environment that takes mail now. */
  readonly environment?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** A digest of the request; another request under the same idempotency key has another. */
  readonly orderDigest?: string | undefined
  /** When the message is to leave, in milliseconds since the epoch; at once by default. */
  readonly sendAt?: number | undefined
  /** Files that the caller attached (REST), or that were seen in what SMTP brought where the plan has none. */
  readonly attachments?: number | undefined
  /** Openings and clicks that the submitter wants to know of; none by default. */
  readonly tracking?: TrackingWish | undefined
  /** What the content was rendered from (REST). */
  readonly template?: Trace['template']
  /** By what the sender finds the trace again, and what it carries along. */
  readonly labels?: Labels | undefined
  /** The message has a link by which its one recipient unsubscribes; who can follow it. */
  readonly unsubscribeLink?: LinkScope | undefined
  /** The list that the recipient would leave by it. */
  readonly list?: MailingList | undefined
  /** Who submitted: id of the SMTP credential or API key. */
  readonly submittedBy: string
  /** Each recipient is to get a return path of its own; `bounceDomain` in place of that of the service. */
  readonly verp?: { readonly bounceDomain: string | null } | undefined
  /** A sliding-window limit of the submitter, in messages a minute. */
  readonly ratePerMinute?: number | undefined
  /** The sliding windows that a publishable key counts the message in. */
  readonly windows?: readonly Window[] | undefined
  /** It is captured, whatever the destination. */
  readonly isTest?: boolean | undefined
  /** A deliverability test of its destination, to an address of ours alone: a sandbox does not keep it; it is relayed or refused. */
  readonly isProof?: boolean | undefined
  /** Gets a notice when the message does not reach a recipient; no one by default. */
  readonly noticeTo?: string | undefined
  /** The trace that this message, a notice to an author, is about. */
  readonly noticeOf?: string | undefined
  /** The captured message that it is released from; it is relayed or refused. */
  readonly release?: Stored<Trace> | undefined
  /** What the message uses up; when something has used it already, the message is refused. */
  readonly once?: { readonly key: readonly Element[]; readonly expiresAt: number; readonly refusal: Refusal } | undefined
  /** Adds to the write that takes the message what stands and falls with it. Throws what keeps the message from being taken. */
  readonly stage?: ((change: Change, trace: Trace) => void | Promise<void>) | undefined
}

/** Why it reaches the sandbox alone; undefined where it goes its way. */
export const sandboxCauseOf = ({ isTest, principal }: Pick<Submission, 'isTest' | 'principal'>): SandboxCause | undefined =>
  isTest ? 'test' : principal.agent?.sandboxOnly ? 'agent' : undefined

/** What routing looks at in a submission. */
export type Routable = Pick<Submission, 'door' | 'projectId' | 'mailFrom' | 'destinationId' | 'environment'> & {
  readonly facts: Pick<ContentFacts, 'headerFrom'>
}

/** What routing is asked about it. */
export function questionOf({ projectId, facts, mailFrom, door, destinationId, environment }: Routable): RouteQuestion {
  const by = door === 'smtp' ? 'credential' : 'request'
  const from = facts.headerFrom || mailFrom
  if (destinationId !== undefined) return { projectId, from, asked: { by, destinationId } }
  return environment === undefined ? { projectId, from } : { projectId, from, asked: { by, environment } }
}

/** Content on its way in. Small content stays in memory until the commit; larger content is already on disk by then. */
export interface ContentDraft {
  /** Octets written so far. */
  readonly size: number
  /** Takes the next octets; when it returns a promise, the caller must wait for it. The chunk must not be changed afterwards. */
  write(chunk: Uint8Array): void | Promise<void>
  /** Forgets the content. Safe to call at any time, also after `accept`. */
  discard(): Promise<void>
}

/** Added where the outcome alone would mislead. */
export type AcceptedStatus = 'queued' | 'suppressed' | 'awaiting_approval'

/** The message is ours now: everything about it is on disk. */
export interface Acceptance {
  readonly traceId: string
  readonly outcome: Outcome
  /**
   * `queued`: kept for the time that the caller asked for; `suppressed`: all recipients are, so that nothing will be sent;
   * `awaiting_approval`: a person decides first.
   */
  readonly status?: AcceptedStatus | undefined
  /** True when an earlier submission with the same idempotency key was found; nothing new was stored. */
  readonly repeated: boolean
  /** True when that earlier submission asked for something else, which counts for both. */
  readonly differs?: boolean | undefined
  /** True when no route led the message to a live destination that the project can use, so that it was captured. */
  readonly isUnrouted?: boolean | undefined
}
