/** A fake intake of feedback, and a report reader controlled by a header field of the mail. */
import type { FeedbackEvent, ReportReading } from '#core/feedback/event.ts'
import type { FeedbackOrigin, FeedbackOutcome, FeedbackTaker } from '#core/feedback/feedback-origin.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'

/** Accepts everything, and trusts mail to a return path. */
export class FeedbackDouble implements FeedbackTaker {
  readonly taken: { readonly origin: FeedbackOrigin; readonly events: readonly FeedbackEvent[] }[] = []
  failure: Error | undefined
  readonly #database: Database | undefined

  /** With a database, changes of callers are committed. */
  constructor(database?: Database) {
    this.#database = database
  }

  async take(
    origin: FeedbackOrigin,
    events: readonly FeedbackEvent[],
    also?: (change: Change) => void,
  ): Promise<readonly FeedbackOutcome[]> {
    if (this.failure) throw this.failure
    const change = new Change()
    also?.(change)
    if (also && this.#database && !(await this.#database.commit(change)).ok) throw new Error('a conflict')
    this.taken.push({ origin, events })
    const isKnown = origin.returnPath !== undefined || events.some(({ clues }) => clues.returnPaths.length > 0)
    const facts = { traceId: null, projectId: null, recipient: null, bounce: null, isUnverified: false, suppressed: false }
    return events.map((event) => ({ ...facts, event, result: isKnown ? 'recorded' : 'unmatched' }))
  }
}

/** `X-Test: dsn` makes a mail a report with one bounce. `X-Test: auto_reply` and similar make one without events. */
export async function readTestReport(mail: Uint8Array): Promise<ReportReading> {
  const [, kind = 'none', returnPath] = /^X-Test: (\w+) ?(\S*)\r$/m.exec(Buffer.from(mail).toString('latin1')) ?? []
  return { kind: kind as ReportReading['kind'], events: kind === 'dsn' ? [bounce(returnPath ?? '')] : [] }
}

const bounce = (returnPath: string): FeedbackEvent => ({
  ...{ format: 'dsn', type: 'bounced', key: 'a'.repeat(64), occurredAt: null, recipient: null, originalRecipient: null },
  ...{ action: 'failed', status: '5.1.1', smtpCode: 550, diagnostic: null, remoteMta: null, remoteIp: null, reportingMta: null },
  ...{ feedbackType: null, isStructured: true },
  clues: {
    ...{ references: [], envelopeIds: [], messageIds: [], queueIds: [], originalTo: [] },
    returnPaths: returnPath === '' ? [] : [returnPath],
  },
})
