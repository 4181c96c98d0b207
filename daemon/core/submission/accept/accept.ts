/** Accepts a message: applies policy and limits, then commits content, trace and queue entry in one write. All entry points call this. */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { enqueue, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { keyName, pack, type Element } from '#store/tuple.ts'
import { hash } from 'node:crypto'
import type { Core } from '../../core.ts'
import { foldAddress } from '../../addresses.ts'
import { captureOf, timeOfCapture, type Capture } from '../../capture/capture.ts'
import { takeCapture } from '../../capture/inboxes/take-capture.ts'
import { hasNoOptOuts, suppressionsAgainst, withoutSuppressed } from '../../feedback/suppression/suppressed-recipients.ts'
import { countAccepted, countSender, refusedLetter, senderLetters } from '../../insights/count.ts'
import type { LateCounts } from '../../insights/late-counts.ts'
import { Refusal } from '../../refusals.ts'
import type { DestinationHealth } from '../../routing/match/environment.ts'
import { addressOf } from '../../routing/destination.ts'
import { matchRoute, type Route } from '../../routing/match/match.ts'
import { decideOutcome, type Decision } from '../../routing/match/outcome.ts'
import type { Project } from '../../tenancy/organization.ts'
import { countTrace, meter, minuteOf, rateCounter } from '../../tenancy/counters.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { withNotice } from '../../trace/notices/due-notices.ts'
import { giveReturnPaths } from '../../trace/return-paths.ts'
import { advance } from '../../trace/states.ts'
import { noteAsked } from '../../trace/approval/asked.ts'
import { heldForApproval, waitsForApproval, type HeldOrder } from '../../trace/approval/held-trace.ts'
import { traces, type Outcome, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import type { Tracking } from '../../tracking/message-tracking.ts'
import { isOpenTo } from '../../access/principal/project-choice.ts'
import { requiresApproval } from '../../access/principal/agent-approval.ts'
import { passGates } from './accept-gates.ts'
import { questionOf, routedDomain, sandboxCauseOf, type Acceptance, type AcceptedStatus, type Submission } from '../submission.ts'
import type { Attachment } from '../compose/attachments.ts'
import type { ContentDraftInStore } from './draft.ts'
import { assertFits } from '../compose/message-size.ts'
import { InFlight } from './in-flight.ts'
import { notRelayed, releasedFrom, stageRelease } from './release-mark.ts'
import { noProject, Standing } from './standing.ts'
import { unknownSender } from './unknown-sender.ts'
import { decideVerp } from './verp.ts'

/** Notified after a message is durable, so that delivery can begin without reading the message from the store. */
export interface AcceptanceListener {
  accepted(trace: Trace): void
  queued(entry: QueueEntry, content: readonly Uint8Array[] | undefined, trace: Stored<Trace>): void
  captured(capture: Capture): void
}

export interface AcceptOptions extends Core {
  readonly tracking: Tracking
  readonly listener: AcceptanceListener
  readonly health: DestinationHealth
  readonly lateCounts: Pick<LateCounts, 'count' | 'countIn'>
  readonly maxRecipients: number
  readonly maxMessageBytes: number
  /** Default domain of VERP return paths; a credential can name another domain. Null when this service receives no mail. */
  readonly bounceDomain: string | null
}

/** Spec "Limits" 6. */
const idempotencyMs = 24 * 3600 * 1000
interface KnownKey {
  readonly traceId: string
  readonly outcome: Outcome
  readonly at: number
  readonly status: AcceptedStatus | undefined
  /** Undefined when the request has no digest, and in entries of versions that did not store it. */
  readonly digest: string | undefined
}

/** Fields that identify an idempotency key and its request. */
type Keyed = Pick<Submission, 'principal' | 'projectId' | 'idempotencyKey' | 'orderDigest' | 'isTest'>

/** Result of an acceptance. `follow` is set for a new message and starts its delivery after the commit. */
interface Accepted {
  readonly acceptance: Acceptance
  readonly follow?: () => void
}

/** Starts the delivery of a message after the commit that created this version. */
type Follow = (content: readonly Uint8Array[] | undefined, version: bigint) => void

export class Accept {
  readonly #options: AcceptOptions
  readonly #inFlight = new InFlight()
  readonly #standing: Standing

  constructor(options: AcceptOptions) {
    this.#options = options
    this.#standing = new Standing(options.database)
  }

  /** Resolves when the whole message is on disk. Throws a refusal if nothing of the message was stored. */
  async accept(submission: Submission & { readonly draft: ContentDraftInStore }): Promise<Acceptance> {
    const end = this.begin()
    let accepted: Accepted
    try {
      accepted = await this.#accept(submission)
    } catch (error) {
      this.#countRefused(submission, error)
      await submission.draft.discard()
      throw error
    } finally {
      end()
    }
    const { acceptance, follow } = accepted
    if (follow) follow()
    else await submission.draft.discard()
    return this.#withRoute(acceptance, submission)
  }

  /** Checks the size of a message before anything is written. Throws `request_too_large`. */
  assertFits(size: number, attachments: readonly Attachment[]): void {
    assertFits(size, this.#options.maxMessageBytes, attachments)
  }

  /** Registers another write that `settled` waits for. The caller calls the returned function when the write has ended. */
  begin(): () => void {
    return this.#inFlight.begin()
  }

  /** Resolves when all acceptances in flight at the time of the call have finished. Later acceptances use the current settings. */
  async settled(): Promise<void> {
    await this.#inFlight.settled()
  }

  /** Returns the result of an earlier send with this idempotency key within the last 24 hours. */
  async earlier(keyed: Keyed): Promise<Acceptance | undefined> {
    const known = await this.#seenKey(keyed, this.#options.clock.now())
    return known?.fresh && this.#withRoute(again(known.fresh, keyed).acceptance, keyed)
  }

  /** Marks a message that was captured for lack of a route although the project has a live destination. Not reported to web pages. */
  async #withRoute(acceptance: Acceptance, { principal, projectId, isTest }: Keyed): Promise<Acceptance> {
    if (acceptance.outcome !== 'captured.no_route' || principal.publishableToken !== undefined) return acceptance
    if (sandboxCauseOf({ isTest, principal })) return acceptance
    const { destinations } = await this.#options.policies.of(principal.organizationId)
    const hasLive = [...destinations.values()].some((one) => one.mode === 'live' && isOpenTo(one, projectId))
    return hasLive ? { ...acceptance, isUnrouted: true } : acceptance
  }

  /** Throws the refusal of the first gate that the message fails. Skips counters, which are only checked on commit. Writes nothing. */
  async check(submission: Submission): Promise<void> {
    const { policies, clock, maxRecipients, maxMessageBytes } = this.#options
    const policy = await policies.of(submission.principal.organizationId)
    const { project, decision } = this.#decide(policy, submission)
    const candidate = { submission, project, organization: policy.organization, decision, nowMs: clock.now(), previousMinute: 0 }
    passGates({ ...candidate, maxRecipients, maxMessageBytes }, new Change())
  }

  #decide(policy: Policy, submission: Submission): { readonly project: Project; readonly route: Route; readonly decision: Decision } {
    const project = policy.projects.get(submission.projectId)
    if (!project) throw noProject()
    const route = matchRoute(policy, questionOf(submission), this.#options.health)
    return { project, route, decision: decideOutcome(project, route, sandboxCauseOf(submission), submission.isProof) }
  }

  async #accept(submission: Submission & { readonly draft: ContentDraftInStore }): Promise<Accepted> {
    const { database, policies, clock } = this.#options
    const { principal, traceId } = submission
    const nowMs = clock.now()
    const known = await this.#seenKey(submission, nowMs)
    if (known?.fresh) return again(known.fresh, submission)

    const policy = await policies.of(principal.organizationId)
    const { project, route, decision } = this.#decide(policy, submission)
    if ((submission.release || submission.isProof) && decision.outcome !== 'relayed') throw notRelayed(decision, submission)

    const change = new Change()
    const previousMinute = submission.ratePerMinute === undefined ? 0 : await this.#rateBefore(submission, nowMs)
    const { maxRecipients, maxMessageBytes } = this.#options
    const limits = passGates(
      { submission, project, organization: policy.organization, decision, nowMs, maxRecipients, maxMessageBytes, previousMinute },
      change,
    )

    const isRelayed = decision.outcome === 'relayed'
    const { draft, tracking: wish } = submission
    const { organization } = policy
    const tracked = { traceId, organizationId: principal.organizationId, organization, isRelayed, draft }
    const tracking = wish && (await this.#options.tracking.apply(wish, tracked))
    const inMemory = isRelayed ? draft.inMemory() : undefined
    const whole = { ...traceOf(submission, route, decision, draft.seal(change), nowMs), ...(tracking && { tracking }) }
    const isUnchecked = whole.outcome !== 'relayed' || hasNoOptOuts(database, principal.organizationId, whole)
    const allowed = isUnchecked ? whole : await this.#withoutSuppressed(submission, whole)
    const isHeld = allowed.status === 'queued' && isRelayed && requiresApproval(policy, project.id, principal)
    const sendable = isHeld ? heldForApproval(allowed, orderOf(submission, policy, allowed), nowMs) : allowed
    const sent = this.#captured(change, submission, this.#withReturnPaths(change, submission, policy, sendable))
    const trace = withNotice(change, principal.organizationId, undefined, sent, nowMs)
    countTrace(change.insertUnchecked(traces, principal.organizationId, trace), principal.organizationId, trace, 1)
    const place = { organizationId: principal.organizationId, projectId: trace.projectId }
    const madeWith = [trace.template?.id, trace.door === 'publishable_key' ? trace.submittedBy : undefined]
    const hasCause = decision.cause !== undefined
    countAccepted(change, place, decision.outcome, nowMs, { isScheduled: trace.sendAt !== undefined, hasCause, madeWith })
    countSenders(change, policy, trace, submission)
    if (isHeld) noteAsked(change, principal.organizationId, traceId)
    if (trace.door === 'smtp') meter(change, 'smtp_messages', principal.organizationId, trace.projectId, nowMs)
    if (trace.door === 'publishable_key') meter(change, 'pk_sends', principal.organizationId, trace.projectId, nowMs)
    if (trace.outcome !== 'relayed') meter(change, 'captures', principal.organizationId, trace.projectId, nowMs)
    const follow = this.#follow(change, submission, trace)
    if (submission.idempotencyKey !== undefined) {
      const key = idempotencyKey(submission)
      change
        .check(key, known?.version)
        .set(key, encode([traceId, trace.outcome, nowMs, statusToTell(trace)[0] ?? null, submission.orderDigest ?? null]))
        .expire(nowMs + idempotencyMs, key)
    }

    if (submission.release) stageRelease(change, this.#options.audit, submission, submission.release, trace)
    const { once } = submission
    await submission.stage?.(change, trace)
    if (once) change.setNew(once.key, encode(nowMs)).expire(once.expiresAt, once.key)
    const result = await this.#standing.commit(change, principal.organizationId, trace.projectId)
    const [status] = statusToTell(trace)
    if (result.ok)
      return {
        acceptance: { traceId, outcome: decision.outcome, ...(status && { status }), repeated: false },
        follow: () => follow(inMemory, result.version),
      }
    if (result.reason === 'limit') throw limits.get(keyName(result.key)) ?? new Error('a counter without a refusal')
    const winner = await this.#seenKey(submission, nowMs)
    if (!winner?.fresh && once && keyName(result.key) === keyName(pack(once.key))) throw once.refusal
    if (!winner?.fresh) throw new Refusal('conflict', 'The message conflicted with another write; send it again.')
    return again(winner.fresh, submission)
  }

  /** Counts a refusal. The trace of an invalid request counts it, and the session counts refusals of SMTP. */
  #countRefused(submission: Submission, error: unknown): void {
    const { principal, projectId, door } = submission
    if (!(error instanceof Refusal) || error.code === 'not_found') return
    const { lateCounts } = this.#options
    const place = { organizationId: principal.organizationId, projectId }
    if (error.code !== 'validation_failed' && door !== 'smtp') lateCounts.count(place, refusedLetter + error.code)
    if (error.code === 'no_route')
      lateCounts.countIn('senders', place, routedDomain(submission), (change, domains, nowMs, times) => {
        for (const domain of domains) countSender(change, place, domain, nowMs, senderLetters.refused, times)
      })
  }

  /** Suppresses recipients on the suppression list. Not called for captured messages, which are not delivered. */
  async #withoutSuppressed({ principal }: Submission, trace: Trace): Promise<Trace> {
    const hits = await suppressionsAgainst(this.#options.database, principal.organizationId, trace, trace.createdAt)
    return withoutSuppressed(trace, hits, trace.createdAt)
  }

  /** Creates VERP return paths. A captured message and a message without recipients get no return path. */
  #withReturnPaths(change: Change, submission: Submission, { organization }: Policy, trace: Trace): Trace {
    const { secrets, bounceDomain } = this.#options
    const verp = trace.status === 'queued' && trace.outcome === 'relayed' ? decideVerp(submission, organization, bounceDomain) : undefined
    if (!verp) return trace
    return 'off' in verp ? { ...trace, verp } : giveReturnPaths(change, secrets, submission.principal.organizationId, trace, verp.domain)
  }

  /** Adds the queue entry. Returns a function that notifies the listener after the commit. */
  #follow(change: Change, submission: Submission, trace: Trace): Follow {
    const { organizationId } = submission.principal
    const { listener } = this.#options
    if (trace.status === 'suppressed') return () => listener.accepted(trace)
    if (trace.nextAttemptAt !== null) {
      const entry = waitingEntry(organizationId, trace)
      enqueue(change, entry)
      return (content, version) => {
        listener.accepted(trace)
        listener.queued(entry, waitsForApproval(trace) ? undefined : content, { record: trace, version })
      }
    }
    const capture = captureOf(trace)
    return () => {
      listener.accepted(trace)
      if (capture) listener.captured(capture)
    }
  }

  /** Sets the creation time of a captured trace to its capture time, so that both sort in the same order. */
  #captured(change: Change, { principal, facts }: Submission, trace: Trace): Trace {
    if (trace.status !== 'captured') return trace
    const { database, clock } = this.#options
    const seen = { headerAddresses: facts.headerAddresses, nowMs: clock.now() }
    const taken = takeCapture(database, change, principal.organizationId, trace, seen)
    const createdAt = timeOfCapture(taken)
    return { ...taken, createdAt, updatedAt: createdAt }
  }

  async #seenKey(submission: Keyed, nowMs: number): Promise<{ fresh: KnownKey | undefined; version: bigint } | undefined> {
    if (submission.idempotencyKey === undefined) return undefined
    const entry = await this.#options.database.kv.get(pack(idempotencyKey(submission)))
    if (!entry) return undefined
    const [traceId, outcome, at, status, digest] = decode<[string, Outcome, number, (AcceptedStatus | null)?, (string | null)?]>(
      entry.value,
    )
    const found = { traceId, outcome, at, status: status ?? undefined, digest: digest ?? undefined }
    return { fresh: nowMs - at < idempotencyMs ? found : undefined, version: entry.version }
  }

  #rateBefore({ principal, submittedBy }: Submission, nowMs: number): Promise<number> {
    return this.#options.database.kv.counter(pack(rateCounter(principal.organizationId, submittedBy, minuteOf(nowMs) - 1)))
  }
}

const again = ({ traceId, outcome, status, digest }: KnownKey, { orderDigest }: Keyed): Accepted => ({
  acceptance: {
    ...{ traceId, outcome, ...(status && { status }), repeated: true },
    ...(digest !== undefined && orderDigest !== undefined && digest !== orderDigest && { differs: true }),
  },
})

/** Counts the message by its sender, if its domain was never added, or if no routing rule matches. */
function countSenders(change: Change, policy: Policy, trace: Trace, submission: Submission): void {
  const [place, sender] = [{ organizationId: policy.organization.id, projectId: trace.projectId }, unknownSender(policy, trace)]
  if (sender !== undefined) countSender(change, place, sender, trace.createdAt)
  if (trace.outcome === 'captured.no_route' && trace.outcomeCause === undefined)
    countSender(change, place, routedDomain(submission), trace.createdAt, senderLetters.captured)
}

/** Returns zero or one status. */
function statusToTell({ status, sendAt }: Trace): AcceptedStatus[] {
  if (status === 'suppressed') return ['suppressed']
  if (status === 'pending') return ['awaiting_approval']
  return sendAt === undefined ? [] : ['queued']
}

/** Returns the trace of a submission with this idempotency key within the last day. */
export async function traceIdUnder({ kv }: Pick<Database, 'kv'>, keyed: Keyed): Promise<string | undefined> {
  const entry = await kv.get(pack(idempotencyKey(keyed)))
  return entry && decode<readonly [string]>(entry.value)[0]
}

/** The key is hashed, so that it may contain any characters. It contains the project, so that projects do not share keys. */
const idempotencyKey = ({ principal, projectId, idempotencyKey = '' }: Keyed): readonly Element[] => [
  principal.organizationId,
  'idempotency',
  projectId,
  hash('sha256', idempotencyKey),
]

const orderOf = ({ orderDigest }: Submission, { destinations, failovers }: Policy, trace: Trace): HeldOrder => {
  const ids = [trace.destinationId ?? '', ...(failovers.of(trace.projectId, trace.destinationId ?? '')?.fallbackIds ?? [])]
  const [through, ...fallbacks] = ids.map((id) => {
    const destination = destinations.get(id)
    return destination && { id, through: addressOf(destination) }
  })
  return { orderDigest, through: through?.through, fallbacks: fallbacks.filter((one) => one !== undefined) }
}

const toKeptRoute = ({ by, ruleId, reason, environment }: Route): Trace['route'] =>
  environment === undefined ? { by, ruleId, reason } : { by, ruleId, reason, environment }

function traceOf(submission: Submission, route: Route, decision: Decision, content: Trace['content'], nowMs: number): Trace {
  const { facts, mailFrom, rcptTo } = submission
  const relayed = decision.outcome === 'relayed'
  const isScheduled = submission.sendAt !== undefined
  const status = advance('pending', relayed || isScheduled ? 'routed' : 'captured')
  const named = new Set(facts.headerAddresses)
  return {
    id: submission.traceId,
    projectId: submission.projectId,
    door: submission.door,
    submittedBy: submission.submittedBy,
    createdAt: nowMs,
    updatedAt: nowMs,
    status,
    outcome: decision.outcome,
    outcomeReason: decision.reason,
    ...(decision.cause && { outcomeCause: decision.cause }),
    mailFrom,
    recipients: distinct(rcptTo).map((address) => ({ address, status, ...(!named.has(foldAddress(address)) && { bcc: true as const }) })),
    headerFrom: facts.headerFrom,
    subject: facts.subject,
    messageId: facts.messageId,
    destinationId: decision.destinationId,
    route: toKeptRoute(route),
    ...(submission.template && { template: submission.template }),
    ...submission.labels,
    ...(submission.unsubscribeLink && { hasUnsubscribeLink: true as const }),
    ...(submission.list && { list: submission.list }),
    ...releasedFrom(submission.release),
    ...(submission.noticeTo !== undefined && { noticeTo: submission.noticeTo }),
    ...(submission.noticeOf !== undefined && { noticeOf: submission.noticeOf }),
    content,
    prefix: facts.prefix,
    ...((facts.hasAttachment || (submission.attachments ?? 0) > 0) && { hasAttachment: true as const }),
    eightBit: facts.eightBit,
    smtputf8: facts.smtpUtf8 === true || [mailFrom, ...rcptTo].some((address) => /[^\u0000-\u007f]/.test(address)),
    attempts: 0,
    unknownAttempts: 0,
    nextAttemptAt: submission.sendAt ?? (relayed ? nowMs : null),
    ...(isScheduled && { sendAt: submission.sendAt }),
    ...(isScheduled && !relayed && { scheduledAddresses: facts.headerAddresses }),
  }
}

/** Removes duplicate mailboxes, ignoring case. Keeps the first spelling. */
function distinct(addresses: readonly string[]): string[] {
  if (addresses.length === 1) return [...addresses]
  const byFolded = new Map<string, string>()
  for (const address of addresses) if (!byFolded.has(foldAddress(address))) byFolded.set(foldAddress(address), address)
  return [...byFolded.values()]
}
