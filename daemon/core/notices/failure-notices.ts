/**
 * Sends failure notices to the authors of messages. A notice is due from the write that ended the first failed recipient. The write that
 * accepts the notice marks it as sent, so no crash loses it and no second daemon repeats it.
 */
import { headerText } from '#config/mail/charset/header-text.ts'
import { Change } from '#store/change.ts'
import { Draft, readContent } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import { StoreDamaged } from '#store/kv.ts'
import type { Stored } from '#store/record-kind.ts'
import { apiKeys } from '../access/keys/api-key.ts'
import { foldAddress, parseAddress } from '../addresses.ts'
import type { Core } from '../core.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import { Refusal } from '../refusals.ts'
import type { Policy } from '../routing/policy/policy.ts'
import type { Accept } from '../submission/accept/accept.ts'
import { noticeMessage, type FailedMessage } from '../submission/compose/notice-message.ts'
import { drafted } from '../submission/compose/drafted.ts'
import { countNotice } from '../tenancy/notice-counters.ts'
import { readAttempts } from '../trace/attempts.ts'
import { addDueNotice, dueNotices, nextNoticeMs, noticeRows, removeDueNotice, type DueNotice } from '../trace/notices/due-notices.ts'
import { isUnknownToAuthor, openNotice, withLastNotice, type NoticeBar, type TraceNotice } from '../trace/notices/trace-notice.ts'
import { readReports } from '../trace/trace-report.ts'
import { traces, type Trace, type TraceRecipient } from '../trace/trace.ts'
import { openWindows } from '../visitors/stored-windows.ts'
import { DueRounds } from '../work-loop.ts'
import { failedRecipient } from './failed-recipients.ts'
import { noticeWindows } from './notice-limits.ts'
import { noticeWay, type NoticeWay } from './notice-way.ts'

export interface FailureNoticesOptions extends Core {
  readonly accept: Pick<Accept, 'accept'>
  readonly mail: Pick<SystemMail, 'way'>
  /** Host name of this service. */
  readonly hostname: string
  /** Decodes a raw Subject value (RFC 2047). */
  readonly readSubject: (raw: string) => string
  readonly onError: (error: unknown, id?: string) => void
}

/** Number of concurrent notices; their writes share a disk sync. */
const atOnce = 16
/** Pauses after refused tries; the notice is withheld after the last pause. */
const pausesMs = [1, 5, 30, 120].map((minutes) => minutes * 60_000)
/** Maximum octets of the failed message's header in a notice. */
const maxHeaderOctets = 32 * 1024

/** A due notice with its trace. */
interface Due {
  readonly notice: DueNotice
  readonly stored: Stored<Trace>
  readonly policy: Policy
}

export class FailureNotices {
  readonly #options: FailureNoticesOptions
  readonly #rounds: DueRounds

  constructor(options: FailureNoticesOptions) {
    this.#options = options
    const { database, clock, onError } = options
    this.#rounds = new DueRounds({ round: (stopping) => this.#round(stopping), onError, clock, nextDueMs: () => nextNoticeMs(database) })
    database.onWork(noticeRows, () => this.#rounds.wake())
  }

  /** Starts with the stored notices of an earlier process. */
  start(): void {
    this.#rounds.wake()
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  async #round(stopping: () => boolean): Promise<void> {
    const { database, clock } = this.#options
    const now = clock.now()
    while (!stopping()) {
      const due = await dueNotices(database, now, atOnce)
      if (due.length === 0) return
      await Promise.all(due.map((notice) => this.#take(notice)))
    }
  }

  /** Sends, withholds or postpones one notice. Does nothing after a concurrent change of its trace; the next round reads the new state. */
  async #take(notice: DueNotice): Promise<void> {
    const { database, policies, onError } = this.#options
    const stored = await database.get(traces, notice, notice.traceId).catch((error: unknown) => {
      if (error instanceof StoreDamaged)
        onError(error, notice.traceId) // its trace is lost, and must not delay other notices
      else throw error
    })
    if (!stored || openNotice(stored.record)?.dueAt !== notice.dueAt) {
      await database.commit(removeDueNotice(new Change(), notice)) // for example because its trace was removed
      return
    }
    try {
      const due = { notice, stored, policy: await policies.of(notice.organizationId) }
      const bar = await this.#send(due)
      if (bar) await this.#withhold(due, bar)
    } catch (error) {
      const now = await database.get(traces, notice, notice.traceId)
      if (now?.version !== stored.version) return
      if (!(error instanceof Refusal)) onError(error, notice.traceId)
      await this.#putOff(notice, stored)
    }
  }

  /** Returns why the notice is not sent; undefined if it was sent. Throws the refusal of its acceptance. */
  async #send(due: Due): Promise<NoticeBar | undefined> {
    const { database, clock } = this.#options
    const { notice, stored, policy } = due
    const trace = stored.record
    const { organizationId } = notice
    if (!policy.projects.has(trace.projectId)) return 'off' // the project is deleted
    if (await this.#isOff(policy, organizationId, trace.submittedBy)) return 'off'
    const to = parseAddress(trace.noticeTo ?? '')
    const failed = to ? recipientsOf(trace, to.address) : []
    if (!to || failed.length === 0) return 'none_left'
    const isUnreached = failed.every(({ reply, suppression, status }) => status === 'failed' && !reply && !suppression)
    const way = await noticeWay(this.#options, policy, organizationId, trace, isUnreached)
    if (!way) return 'no_way'
    const source = { organizationId, submittedBy: trace.submittedBy }
    const windows = await openWindows(database, noticeWindows(source), clock.now()).catch(limitReached)
    if (windows === undefined) return 'limit'
    const { hostname } = this.#options
    const traceId = newTraceId()
    const [reports, attempts] = [
      (await readReports(database, organizationId, trace.id)).map(({ record }) => record),
      await readAttempts(database, organizationId, trace),
    ]
    const composed = noticeMessage({
      ...{ traceId, from: way.from, to, hostname, nowMs: clock.now(), message: await this.#message(organizationId, trace) },
      failed: failed.map((one) => failedRecipient(one, reports, attempts)),
    })
    const { principal, destinationId, mailFrom } = way
    const draft = await drafted(new Draft(database, principal.organizationId, traceId), composed)
    const sent = await this.#options.accept
      .accept({
        ...{ door: 'failure_notice', principal, projectId: principal.projectId, traceId, facts: composed.facts, draft, destinationId },
        ...{ mailFrom, rcptTo: [to.address], submittedBy: principal.credentialId, windows, noticeOf: trace.id },
        stage: (change) => this.#close(change, due, sentBy(way, traceId)),
      })
      .catch(limitReached)
    return sent ? undefined : 'limit'
  }

  /** Whether notices were switched off after the submission of the message. */
  async #isOff({ credentials }: Policy, organizationId: string, id: string): Promise<boolean> {
    const source = credentials.get(id) ?? (await this.#options.database.get(apiKeys, { organizationId }, id))?.record
    return source?.failureNotices === 'off'
  }

  async #withhold(due: Due, withheld: NoticeBar): Promise<void> {
    const change = new Change()
    this.#close(change, due, { withheld })
    await this.#options.database.commit(change) // after a concurrent change of the trace, the next round decides again
  }

  /** Closes the notice in a write. */
  #close(change: Change, { notice, stored }: Due, outcome: Partial<TraceNotice>): void {
    const { organizationId } = notice
    const at = this.#options.clock.now()
    removeDueNotice(change, notice).rewrite(traces, organizationId, stored, withLastNotice(stored.record, { ...outcome, at }))
    const { submittedBy } = stored.record
    if (!outcome.withheld) countNotice(change, { organizationId, submittedBy }, 'sent', at)
    else if (outcome.withheld === 'limit') countNotice(change, { organizationId, submittedBy }, 'withheld', at)
  }

  async #putOff(notice: DueNotice, stored: Stored<Trace>): Promise<void> {
    const { database, clock } = this.#options
    const { tries = 0 } = openNotice(stored.record) ?? {}
    const pauseMs = pausesMs[tries]
    const change = removeDueNotice(new Change(), notice)
    const next: Partial<TraceNotice> =
      pauseMs === undefined ? { withheld: 'refused', at: clock.now() } : { dueAt: clock.now() + pauseMs, tries: tries + 1 }
    if (next.dueAt !== undefined) addDueNotice(change, { ...notice, dueAt: next.dueAt })
    change.rewrite(traces, notice.organizationId, stored, withLastNotice(stored.record, next))
    await database.commit(change)
  }

  async #message(organizationId: string, trace: Trace): Promise<FailedMessage> {
    const { database, readSubject } = this.#options
    const { id: traceId, messageId, subject, createdAt: acceptedAt, prefix, content } = trace
    let header = Buffer.from(prefix)
    for await (const row of readContent(database, organizationId, content)) {
      header = Buffer.concat([header, row.subarray(0, maxHeaderOctets)])
      break
    }
    return { traceId, messageId, subject: readSubject(subject), acceptedAt, header: headerIn(header) }
  }
}

/** Returns the failed recipients of this notice that are not queued again. Excludes the author, whose own address failed. */
function recipientsOf({ recipients, notices = [] }: Trace, author: string): readonly TraceRecipient[] {
  const own = foldAddress(author)
  return recipients.filter((one) => one.notice === notices.length && isUnknownToAuthor(one) && foldAddress(one.address) !== own)
}

const sentBy = ({ isSystemMail }: NoticeWay, traceId: string): Partial<TraceNotice> => ({
  traceId,
  ...(isSystemMail && { isSystemMail: true as const }),
})

function limitReached(error: unknown): undefined {
  if (error instanceof Refusal && error.code === 'rate_limit_exceeded') return undefined
  throw error
}

/** Returns the whole header lines before the first empty line. */
function headerIn(octets: Buffer): string {
  const end = octets.indexOf('\r\n\r\n')
  const isWhole = end >= 0 && end <= maxHeaderOctets
  const block = octets.subarray(0, isWhole ? end : maxHeaderOctets)
  return `${headerText(isWhole ? block : block.subarray(0, Math.max(block.lastIndexOf('\r\n'), 0)))}\r\n`
}
