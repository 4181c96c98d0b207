/**
 * Finds the message and the recipient of a report from its clues. Order, strongest clue first: return path of one recipient (VERP), our
 * token, queue id of the next host, Message-ID, subject.
 */
import type { Core } from '../../core.ts'
import { recipientOfVerp } from '../../trace/return-paths.ts'
import { traceOfServiceRef } from '../../trace/trace-token.ts'
import type { ReportMatch } from '../../trace/trace-report.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { Candidates } from './candidates.ts'
import type { FeedbackEvent } from '../event.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'
import { foldEmail } from '../suppression/suppression.ts'

/** The message and the recipient that a report is about. */
export interface Attribution {
  readonly organizationId: string
  readonly traceId: string
  readonly projectId: string
  /** Address from the envelope; null if the message has several recipients and the report does not identify one. */
  readonly recipient: string | null
  /** Number of recipients of the message. */
  readonly recipients: number
  readonly proof: ReportMatch
  /** The report arrived before our own attempt was recorded. */
  readonly isEarly: boolean
}

/** No message matches. `mayFitSoon` is true if one may match once an attempt in progress is recorded. */
export interface NoAttribution {
  readonly mayFitSoon: boolean
}

/** Maximum number of clues of each kind that are examined. Real reports name few. */
const maxEvidence = 20
/** Maximum age of a message that is matched by its subject alone; clocks may differ by `slackMs`. */
const subjectMs = 48 * 3_600_000
const slackMs = 10 * 60_000
/** Minimum length of a queue id. Shorter ids could be ordinary words of a reply. */
const queueIdMin = 6

/** Attributes the events of one batch from one origin. */
export class Attributor {
  readonly #core: Core
  readonly #origin: FeedbackOrigin
  readonly #candidates: Candidates | undefined

  constructor(core: Core, origin: FeedbackOrigin, events: readonly FeedbackEvent[], nowMs: number) {
    this.#core = core
    this.#origin = origin
    const { organizationId } = origin
    this.#candidates = organizationId === null ? undefined : new Candidates(core.database, organizationId, events, nowMs)
  }

  async find(event: FeedbackEvent): Promise<Attribution | NoAttribution> {
    return (await this.#byReturnPath(event)) ?? (await this.#byToken(event)) ?? (await this.#bySearch(event))
  }

  async #byReturnPath({ clues }: FeedbackEvent): Promise<Attribution | undefined> {
    const { database, secrets } = this.#core
    const { returnPath } = this.#origin
    const given = [...(returnPath === undefined ? [] : [returnPath]), ...clues.returnPaths]
    for (const address of new Set(given.slice(0, maxEvidence))) {
      const verp = await recipientOfVerp(database, secrets, address)
      const trace = verp && (await this.#trace(verp.traceId, verp.organizationId))
      if (trace) return attributed(trace, 'return_path', verp.address)
    }
    return undefined
  }

  async #byToken(event: FeedbackEvent): Promise<Attribution | undefined> {
    const tokens = [...event.clues.references.slice(0, maxEvidence), ...event.clues.envelopeIds.slice(0, maxEvidence)]
    for (const token of new Set(tokens.map((text) => text.trim().toLowerCase()))) {
      const traceId = traceOfServiceRef(this.#core.secrets, token)
      const trace = traceId && (await this.#trace(traceId))
      if (trace) return attributed(trace, 'reference', recipientIn(trace.trace, event))
    }
    return undefined
  }

  async #bySearch(event: FeedbackEvent): Promise<Attribution | NoAttribution> {
    const { organizationId } = this.#origin
    if (!this.#candidates || organizationId === null) return { mayFitSoon: false }
    const { clues, originalRecipient, recipient } = event
    const messageIds = new Set(clues.messageIds.slice(0, maxEvidence).map(bare))
    const queueIds = new Set(clues.queueIds.filter((id) => id.length >= queueIdMin).slice(0, maxEvidence))
    const named = [originalRecipient, recipient].filter((address) => address !== null)
    const [onlyTo, ...furtherTo] = clues.originalTo
    const addresses = named.length > 0 || furtherTo.length > 0 || onlyTo === undefined ? named : [onlyTo]
    let mayFitSoon = false
    for (const address of addresses) {
      for (const trace of await this.#candidates.to(address)) {
        if (!this.#isReachable(trace)) continue
        const named = recipientNamed(trace, address)
        const isQueued = trace.recipients.some(({ address: one, status }) => one === named && status === 'queued')
        mayFitSoon ||= isQueued
        const reply = trace.recipients.find((one) => one.address === named)?.reply?.text
        const byQueueId = reply !== undefined && queueIds.size > 0 && wordsIn(reply).some((word) => queueIds.has(word))
        const proof = byQueueId ? 'queue_id' : messageIds.has(trace.messageId) ? 'message_id' : undefined
        if (proof) return attributed({ organizationId, trace }, proof, named)
      }
    }
    return (await this.#bySubject(event)) ?? { mayFitSoon }
  }

  /** Returns the latest message with this subject that was sent to the recipient. Used for logs without a stronger clue. */
  async #bySubject({ clues: { subject }, recipient, occurredAt }: FeedbackEvent): Promise<Attribution | undefined> {
    const { organizationId } = this.#origin
    if (!this.#candidates || organizationId === null || !subject || recipient === null || occurredAt === null) return undefined
    const { destinationId } = this.#origin
    const trace = (await this.#candidates.to(recipient)).find(
      (one) =>
        this.#isReachable(one) &&
        one.subject === subject &&
        (destinationId === undefined || one.destinationId === destinationId) &&
        one.createdAt <= occurredAt + slackMs &&
        one.createdAt > occurredAt - subjectMs &&
        one.recipients.some(({ address, status }) => status === 'sent' && foldEmail(address) === foldEmail(recipient)),
    )
    return trace && attributed({ organizationId, trace }, 'subject', recipientNamed(trace, recipient))
  }

  /** Returns the trace if the origin may change it. */
  async #trace(traceId: string, ownerId?: string): Promise<{ readonly organizationId: string; readonly trace: Trace } | undefined> {
    const { database } = this.#core
    const organizationId = this.#origin.organizationId ?? ownerId
    if (ownerId !== undefined && ownerId !== organizationId) return undefined
    const found =
      organizationId === undefined
        ? await database.lookup(traces, 'id', [traceId])
        : { organizationId, record: (await database.get(traces, { organizationId }, traceId))?.record }
    return found?.record && this.#isReachable(found.record) ? { organizationId: found.organizationId, trace: found.record } : undefined
  }

  /** Whether the trace is in an allowed project and was relayed. Captured messages have no reports. */
  #isReachable({ projectId, outcome }: Trace): boolean {
    return outcome === 'relayed' && (this.#origin.projectIds?.includes(projectId) ?? true)
  }
}

function attributed(
  { organizationId, trace }: { readonly organizationId: string; readonly trace: Trace },
  proof: ReportMatch,
  recipient: string | null,
): Attribution {
  const status = trace.recipients.find(({ address }) => address === recipient)?.status ?? trace.status
  return {
    ...{ organizationId, traceId: trace.id, projectId: trace.projectId, recipient, proof },
    recipients: trace.recipients.length,
    isEarly: status === 'queued' || status === 'pending',
  }
}

/**
 * Returns the recipient that the report means. The only recipient of a message always matches; otherwise the original address is tried
 * before the final address.
 */
function recipientIn(trace: Trace, { originalRecipient, recipient, clues }: FeedbackEvent): string | null {
  const [only, ...others] = trace.recipients
  if (only && others.length === 0) return only.address
  const [onlyTo, ...furtherTo] = clues.originalTo
  const named = [originalRecipient, recipient, furtherTo.length === 0 ? onlyTo : undefined]
  for (const address of named) {
    const found = address == null ? null : recipientNamed(trace, address)
    if (found !== null) return found
  }
  return null
}

const recipientNamed = ({ recipients }: Trace, address: string): string | null =>
  recipients.find((one) => foldEmail(one.address) === foldEmail(address))?.address ?? null

const bare = (messageId: string): string => messageId.trim().replace(/^</, '').replace(/>$/, '')
/** Splits a reply into words. Returns a word with dashes, such as an Exim queue id, both whole and in parts. */
const wordsIn = (reply: string): readonly string[] =>
  reply
    .slice(0, 2000)
    .split(/[^A-Za-z0-9-]+/)
    .flatMap((word) => (word.includes('-') ? [word, ...word.split('-')] : [word]))
