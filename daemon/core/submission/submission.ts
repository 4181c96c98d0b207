/** A submission to the core and its result. */
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

/** Facts about the content, known without MIME parsing. */
export interface ContentFacts {
  /** Lines added before the submitted content (our trace headers), each with CRLF. */
  readonly prefix: string
  /** Raw Subject value, unfolded but not decoded; empty if missing. */
  readonly subject: string
  readonly messageId: string
  /** The addr-spec of the header From; empty if invalid. */
  readonly headerFrom: string
  /** Every addr-spec in the header block, lower-cased. */
  readonly headerAddresses: readonly string[]
  readonly eightBit: boolean
  /** True if the header shows that the message has attachments or is a file. */
  readonly hasAttachment?: boolean | undefined
  /**
   * True if the client requested SMTPUTF8 (RFC 6531 §3.4). Octets over 127 only in header fields do not require it from the next server.
   */
  readonly smtpUtf8?: boolean | undefined
}

/** A message to accept. Its addresses have passed the strict grammar of `addresses.ts`. */
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
  /** Destination that the caller chose (REST `destination_id`, SMTP credential). */
  readonly destinationId?: string | undefined
  /** Alternative to `destinationId`: the active destination of this environment. */
  readonly environment?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Digest of the request, to detect a different request with the same idempotency key. */
  readonly orderDigest?: string | undefined
  /** Time to send, in milliseconds since the epoch; immediately by default. */
  readonly sendAt?: number | undefined
  /** Number of attachments (REST). Over SMTP only counted if the plan excludes attachments. */
  readonly attachments?: number | undefined
  /** Opens and clicks to track; none by default. */
  readonly tracking?: TrackingWish | undefined
  /** Template that the content was rendered from (REST). */
  readonly template?: Trace['template']
  /** Tags and metadata of the sender. */
  readonly labels?: Labels | undefined
  /** Set if the message has an unsubscribe link, which requires a single recipient: where the link works. */
  readonly unsubscribeLink?: LinkScope | undefined
  /** List that the link unsubscribes from. */
  readonly list?: MailingList | undefined
  /** Id of the SMTP credential or API key. */
  readonly submittedBy: string
  /** Requests a separate return path for each recipient. `bounceDomain` overrides the domain of the service. */
  readonly verp?: { readonly bounceDomain: string | null } | undefined
  /** Sliding-window limit of the submitter, in messages per minute. */
  readonly ratePerMinute?: number | undefined
  /** Sliding windows of a publishable key that count the message. */
  readonly windows?: readonly Window[] | undefined
  /** Captures the message, regardless of the destination's mode. */
  readonly isTest?: boolean | undefined
  /**
   * Deliverability test of the destination; its recipient is an address of this service. Relayed even if the destination is in sandbox
   * mode; refused if it cannot be relayed.
   */
  readonly isProof?: boolean | undefined
  /** Address for a notice if the message does not reach a recipient; no notice by default. */
  readonly noticeTo?: string | undefined
  /** Id of the failed message's trace, if this message is a failure notice. */
  readonly noticeOf?: string | undefined
  /** The captured message that this submission releases. The submission is relayed or refused, never captured again. */
  readonly release?: Stored<Trace> | undefined
  /** A single-use key, such as a captcha token. The write that accepts the message marks the key as used. A used key causes `refusal`. */
  readonly once?: { readonly key: readonly Element[]; readonly expiresAt: number; readonly refusal: Refusal } | undefined
  /** Adds to the write that accepts the message. May throw to refuse the message. */
  readonly stage?: ((change: Change, trace: Trace) => void | Promise<void>) | undefined
}

/** Returns why the message only reaches the sandbox, or undefined. */
export const sandboxCauseOf = ({ isTest, principal }: Pick<Submission, 'isTest' | 'principal'>): SandboxCause | undefined =>
  isTest ? 'test' : principal.agent?.sandboxOnly ? 'agent' : undefined

/** Fields of a submission that routing reads. */
export type Routable = Pick<Submission, 'door' | 'projectId' | 'mailFrom' | 'destinationId' | 'environment'> & {
  readonly facts: Pick<ContentFacts, 'headerFrom'>
}

/** Returns the address that routing rules are compared with. */
const routedFrom = ({ facts, mailFrom }: Pick<Routable, 'facts' | 'mailFrom'>): string => facts.headerFrom || mailFrom

/** Returns the domain that routing rules are compared with; empty for a message without a sender. */
export function routedDomain(submission: Pick<Routable, 'facts' | 'mailFrom'>): string {
  const from = routedFrom(submission)
  return from.slice(from.lastIndexOf('@') + 1).toLowerCase()
}

/** Returns the input of the routing decision for the submission. */
export function questionOf(submission: Routable): RouteQuestion {
  const { projectId, door, destinationId, environment } = submission
  const by = door === 'smtp' ? 'credential' : 'request'
  const from = routedFrom(submission)
  if (destinationId !== undefined) return { projectId, from, asked: { by, destinationId } }
  return environment === undefined ? { projectId, from } : { projectId, from, asked: { by, environment } }
}

/** Content of a message that is being received. Small content stays in memory until the commit; larger content is already on disk. */
export interface ContentDraft {
  /** Octets written until now. */
  readonly size: number
  /** Writes the next octets. If it returns a promise, the caller must await it. The chunk must not be modified afterwards. */
  write(chunk: Uint8Array): void | Promise<void>
  /** Deletes the content. May be called at any time, also after `accept`. */
  discard(): Promise<void>
}

/** Status in addition to the outcome. Set if the outcome alone would be misleading. */
export type AcceptedStatus = 'queued' | 'suppressed' | 'awaiting_approval'

/** Result of an acceptance. Everything about the message is on disk. */
export interface Acceptance {
  readonly traceId: string
  readonly outcome: Outcome
  /**
   * `queued`: scheduled for the requested time. `suppressed`: all recipients are suppressed, nothing will be sent. `awaiting_approval`: a
   * person must approve the message first.
   */
  readonly status?: AcceptedStatus | undefined
  /** True if an earlier submission with the same idempotency key exists; nothing new was stored. */
  readonly repeated: boolean
  /** True if the request of that earlier submission was different. Its result applies. */
  readonly differs?: boolean | undefined
  /** True if the message was captured because no route led to a live destination, although the project has one. */
  readonly isUnrouted?: boolean | undefined
}
