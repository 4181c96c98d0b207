/** Looks traces up for people: one with its story, lists by filter, and the public view. */
import type { Database, Page } from '#store/database.ts'
import type { Element } from '#store/tuple.ts'
import { foldAddress } from '../addresses.ts'
import type { Scope } from '../access/scope.ts'
import { isAlive } from '../tenancy/organization-list.ts'
import type { SecretBox } from '../access/secret-box.ts'
import { readAttempts, type AttemptRecord } from './attempt-record.ts'
import { Refusal } from '../refusals.ts'
import { readKeptReport } from './kept-report.ts'
import { engagements, type Engagement } from './engagement.ts'
import { readReports, type TraceReport } from './trace-report.ts'
import { redactTrace, type SharedTrace } from './redact.ts'
import { traceOfServiceRef } from './trace-token.ts'
import type { TraceStatus } from './states.ts'
import { traces, type Trace } from './trace.ts'

export interface TraceFilter {
  readonly projectId?: string | undefined
  readonly status?: TraceStatus | undefined
  readonly outcome?: string | undefined
  /** Exactly this recipient, in any case. */
  readonly to?: string | undefined
  /** Exactly this header From or MAIL FROM, in any case. */
  readonly from?: string | undefined
  readonly destinationId?: string | undefined
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
const scanMax = 2000

export class TraceReader {
  readonly #database: Database
  readonly #secrets: SecretBox | undefined

  /** With `secrets`, a trace is also found by the token that its message carries. */
  constructor(database: Database, secrets?: SecretBox) {
    this.#database = database
    this.#secrets = secrets
  }

  /** The trace with all that is kept beside it, by its id or by its `X-Service-Ref`. Throws `not_found` alike for missing and foreign ids. */
  async get(scope: Scope, idOrToken: string): Promise<TraceStory> {
    const traceId = (this.#secrets && traceOfServiceRef(this.#secrets, idOrToken)) ?? idOrToken
    const stored = await this.#database.get(traces, scope, traceId)
    if (!stored) throw noTrace()
    const { record: trace } = stored
    const engagement = trace.tracking && (await this.#database.get(engagements, scope, traceId))?.record
    const attempts = await readAttempts(this.#database, scope.organizationId, traceId)
    return { trace, attempts, engagement, reports: await this.#reports(scope.organizationId, traceId) }
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
    const walk = walkFor(scope, filter)
    const rows: Trace[] = []
    let next = cursor
    for (let scanned = 0; scanned < scanMax && rows.length < limit;) {
      // as many as are missing, so that the cursor stands right behind the last row shown
      const page = await this.#database.list(traces, scope, { ...walk, limit: limit - rows.length, cursor: next })
      scanned += page.rows.length
      const past = page.rows.some(({ record }) => filter.since !== undefined && record.createdAt < filter.since)
      rows.push(...page.rows.map(({ record }) => record).filter((trace) => passes(trace, filter)))
      next = page.nextCursor
      if (next === undefined || past) return { rows, nextCursor: undefined }
    }
    return { rows, nextCursor: next }
  }

  /** The redacted view by public id. Spec `GET /share/traces/{trace_id}`. */
  async shared(traceId: string): Promise<SharedTrace> {
    const found = await this.#database.lookup(traces, 'id', [traceId])
    if (!found || !(await isAlive(this.#database, found.organizationId, found.record.projectId))) throw noTrace()
    const attempts = await readAttempts(this.#database, found.organizationId, traceId)
    return redactTrace(found.record, attempts, await this.#reports(found.organizationId, traceId))
  }

  async #reports(organizationId: string, traceId: string): Promise<TraceReport[]> {
    return (await readReports(this.#database, organizationId, traceId)).map(({ record }) => record)
  }
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
    (filter.destinationId === undefined || trace.destinationId === filter.destinationId) &&
    (filter.since === undefined || trace.createdAt >= filter.since) &&
    (filter.until === undefined || trace.createdAt < filter.until) &&
    (from === undefined || foldAddress(trace.headerFrom) === from || foldAddress(trace.mailFrom) === from)
  )
}
