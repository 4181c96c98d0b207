/** Looks traces up for people: one with its story, lists by filter, and the public view. */
import { domainToUnicode } from 'node:url'
import type { Database, Page } from '#store/database.ts'
import type { Element } from '#store/tuple.ts'
import { foldAddress } from '../../addresses.ts'
import type { Scope } from '../../access/scope/scope.ts'
import { isAlive } from '../../tenancy/organization-list.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { readAttempts, type AttemptRecord } from '../attempt-record.ts'
import { Refusal } from '../../refusals.ts'
import { readKeptReport } from './kept-report.ts'
import { engagements, type Engagement } from './engagement.ts'
import { readReports, standingReports, type TraceReport } from '../trace-report.ts'
import { redactTrace, type SharedTrace } from './redact.ts'
import { traceOfServiceRef } from '../trace-token.ts'
import type { TraceStatus } from '../states.ts'
import { bounceOf, traces, type Trace } from '../trace.ts'

export interface TraceFilter {
  readonly projectId?: string | undefined
  readonly status?: TraceStatus | undefined
  readonly outcome?: string | undefined
  /** Exactly this recipient, in any case. */
  readonly to?: string | undefined
  /** Exactly this header From or MAIL FROM, in any case. */
  readonly from?: string | undefined
  readonly destinationId?: string | undefined
  /** A recipient (with `to`, this one) had a bounce of this class: reported after the message had left, or refused for good before. */
  readonly bounce?: 'hard' | 'soft' | 'block' | undefined
  /** Stands in the subject, in an address of sender or recipients, or in the Message-ID; in any case. */
  readonly q?: string | undefined
  /** Milliseconds since the epoch, inclusive and exclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

/** A trace and what its timeline is told from. */
export interface TraceStory {
  readonly trace: Trace
  readonly attempts: readonly AttemptRecord[]
  /** Undefined while nobody has opened the message or followed a link. */
  readonly engagement: Engagement | undefined
  /** What was told of it after it left. */
  readonly reports: readonly TraceReport[]
}

/** One request looks at so many traces at most; the cursor goes on from there. */
const looksMax = 2000

export class TraceReader {
  readonly #database: Database
  readonly #secrets: SecretBox | undefined

  readonly #readSubject: (raw: string) => string

  /**
   * With `secrets`, a trace is also found by the token that its message carries. `readSubject` makes the text of a raw Subject, for
   * searches; without it the raw value is searched.
   */
  constructor(database: Database, secrets?: SecretBox, readSubject = (raw: string): string => raw) {
    this.#database = database
    this.#secrets = secrets
    this.#readSubject = readSubject
  }

  /** The trace with all that is kept beside it, by its id or by its `X-Service-Ref`. Throws `not_found` alike for missing and foreign ids. */
  async get(scope: Scope, idOrToken: string): Promise<TraceStory> {
    const trace = await this.#find(scope, idOrToken)
    const { id: traceId } = trace
    const engagement = trace.tracking && (await this.#database.get(engagements, scope, traceId))?.record
    const attempts = await readAttempts(this.#database, scope.organizationId, traceId)
    return { trace, attempts, engagement, reports: await this.#reports(scope.organizationId, traceId) }
  }

  /** What the asker itself submitted. Throws `not_found` alike for missing ids and for what others submitted. */
  async sentBy(scope: Scope, idOrToken: string): Promise<Trace> {
    const trace = await this.#find(scope, idOrToken)
    if (trace.submittedBy !== scope.grantId) throw noTrace()
    return trace
  }

  async #find(scope: Scope, idOrToken: string): Promise<Trace> {
    const traceId = (this.#secrets && traceOfServiceRef(this.#secrets, idOrToken)) ?? idOrToken
    const stored = await this.#database.get(traces, scope, traceId)
    if (!stored) throw noTrace()
    return stored.record
  }

  /** The beginning of the mail that a report came as. Throws `not_found`. */
  async reportMail(scope: Scope, traceId: string, reportId: string): Promise<Uint8Array> {
    const stored = await this.#database.get(traces, scope, traceId)
    const mail = stored && (await readKeptReport(this.#database, scope.organizationId, `${traceId}/${reportId}`))
    if (!mail) throw new Refusal('not_found', 'No mail of such a report is kept; report_id stands in the timeline of the trace.')
    return mail
  }

  /** Newest first. A page can be short although there is more: then it has a cursor. */
  async list(scope: Scope, filter: TraceFilter, limit: number, cursor: string | undefined): Promise<Page<Trace>> {
    const sort = (trace: Trace) => {
      if (filter.since !== undefined && trace.createdAt < filter.since) return 'end'
      return passes(trace, filter) && this.#hasText(trace, wanted) ? 'take' : 'pass'
    }
    const wanted = filter.q === undefined ? undefined : comparable(filter.q)
    const page = await this.#database.list(traces, scope, { ...walkFor(scope, filter), limit, cursor }, { sort, looksMax })
    return { rows: page.rows.map(({ record }) => record), nextCursor: page.nextCursor }
  }

  #hasText({ subject, mailFrom, headerFrom, recipients, messageId }: Trace, wanted: string | undefined): boolean {
    if (wanted === undefined) return true
    const texts = [mailFrom, headerFrom, ...recipients.map(({ address }) => address)].flatMap(spellings)
    return [...texts, messageId, this.#readSubject(subject)].some((text) => comparable(text).includes(wanted))
  }

  /** The redacted view by public id. Spec `GET /share/traces/{trace_id}`. */
  async shared(traceId: string): Promise<SharedTrace> {
    const found = await this.#database.lookup(traces, 'id', [traceId])
    if (!found || !(await isAlive(this.#database, found.organizationId, found.record.projectId))) throw noTrace()
    const attempts = await readAttempts(this.#database, found.organizationId, traceId)
    return redactTrace(found.record, attempts, await this.#reports(found.organizationId, traceId))
  }

  async #reports(organizationId: string, traceId: string): Promise<TraceReport[]> {
    return standingReports((await readReports(this.#database, organizationId, traceId)).map(({ record }) => record))
  }
}

/** Texts that look the same are the same: in any case, and however accents are composed (Unicode UAX #15). */
const comparable = (text: string): string => text.normalize('NFC').toLowerCase()

/** An address, and with it the form in which people read an internationalized domain (RFC 5890 §2.3.2.1). */
function spellings(address: string): string[] {
  const at = address.lastIndexOf('@') + 1
  return address.toLowerCase().includes('xn--', at) ? [address, address.slice(0, at) + domainToUnicode(address.slice(at))] : [address]
}

const noTrace = (): Refusal => new Refusal('not_found', 'No trace has this id.')

/** The narrowest index for a filter. */
function walkFor(scope: Scope, { to, projectId }: TraceFilter): { index: string; values: readonly Element[] } {
  if (to !== undefined) return { index: 'recipient', values: [foldAddress(to)] }
  const project = projectId ?? (scope.bound ? scope.projectId : undefined)
  return project === undefined ? { index: 'time', values: [] } : { index: 'project', values: [project] }
}

function passes(trace: Trace, filter: TraceFilter): boolean {
  const from = filter.from === undefined ? undefined : foldAddress(filter.from)
  return (
    (filter.projectId === undefined || trace.projectId === filter.projectId) &&
    (filter.status === undefined || trace.status === filter.status) &&
    (filter.outcome === undefined || trace.outcome === filter.outcome) &&
    hasBounce(trace, filter) &&
    (filter.destinationId === undefined || trace.destinationId === filter.destinationId) &&
    (filter.since === undefined || trace.createdAt >= filter.since) &&
    (filter.until === undefined || trace.createdAt < filter.until) &&
    (from === undefined || foldAddress(trace.headerFrom) === from || foldAddress(trace.mailFrom) === from)
  )
}

function hasBounce({ recipients }: Trace, { bounce, to }: TraceFilter): boolean {
  if (bounce === undefined) return true
  const address = to === undefined ? undefined : foldAddress(to)
  return recipients.some((one) => bounceOf(one) === bounce && (address === undefined || foldAddress(one.address) === address))
}
