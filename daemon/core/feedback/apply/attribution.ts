/**
 * From the clues of a report to the message and the recipient it is about, the strongest clue first: the return path of one
 * recipient (VERP), a token of ours, the queue id of the next host, the Message-ID.
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

/** The message that a report is about. */
export interface Attribution {
  readonly organizationId: string
  readonly traceId: string
  readonly projectId: string
  /** As the message was addressed; null when it is one of several and the report does not say which. */
  readonly recipient: string | null
  /** How many the message has. */
  readonly recipients: number
  readonly proof: ReportMatch
  /** Our own attempt has not been written down yet: the report came first. */
  readonly isEarly: boolean
}

/** No message fits; `mayFitSoon` when one may as soon as an attempt that is under way has been written down. */
export interface NoAttribution {
  readonly mayFitSoon: boolean
}

/** A report names few of each; more are not looked at. */
const maxEvidence = 20
/** A subject alone means a message of the last two days; clocks differ by minutes. */
const subjectMs = 48 * 3_600_000
const slackMs = 10 * 60_000
/** Shorter ones could be ordinary words of a reply. */
const queueIdMin = 6

/** For one batch of events of one origin. */
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

  /** The latest message with this subject that the recipient was sent before; for logs with no better evidence. */
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

  /** By id, where the origin may touch it. */
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

  /** Of the right project, and sent at all: what was only captured has no reports. */
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

/** The recipient that the report means: as addressed before as arrived; the only one of its message whatever the report calls it. */
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
/** A word with dashes, such as a queue id of Exim, and its parts. */
const wordsIn = (reply: string): readonly string[] =>
  reply
    .slice(0, 2000)
    .split(/[^A-Za-z0-9-]+/)
    .flatMap((word) => (word.includes('-') ? [word, ...word.split('-')] : [word]))
