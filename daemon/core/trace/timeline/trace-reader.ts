/** Reads traces for people: one trace with its details, lists by filter, and the public view. */
import type { Database, Page } from '#store/database.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { isAlive } from '../../tenancy/organization-list.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import type { AttemptRecord } from '../attempt-record.ts'
import { readAttempts } from '../attempts.ts'
import { Refusal } from '../../refusals.ts'
import { listed, mapRows, type List, type ListParts, type PageQuery } from '../../access/principal/lists.ts'
import { readRawReport } from './raw-report.ts'
import { engagements, type Engagement } from './engagement.ts'
import { readReports, standingReports, type TraceReport } from '../trace-report.ts'
import { traceSeenBy } from './outside-project.ts'
import { redactTrace, type SharedTrace } from './redact.ts'
import { traceOfServiceRef } from '../trace-token.ts'
import { countTraces, matchingTraces, type TraceCounts, type TraceFilter } from '../trace-search.ts'
import { traces, type Trace } from '../trace.ts'

/** A trace and the sources of its timeline. */
export interface TraceDetails {
  readonly trace: Trace
  readonly attempts: readonly AttemptRecord[]
  /** Undefined before the first open or click. */
  readonly engagement: Engagement | undefined
  /** Reports that arrived after the message left. */
  readonly reports: readonly TraceReport[]
}

export interface TraceReaderOptions extends ListParts {
  /** If set, a trace is also found by the token in its message. */
  readonly secrets?: SecretBox
  /** Decodes a raw Subject for searches. Without it the raw value is searched. */
  readonly readSubject?: (raw: string) => string
}

export class TraceReader implements List<TraceFilter, Trace> {
  readonly #options: TraceReaderOptions
  readonly #database: Database

  constructor(options: TraceReaderOptions) {
    this.#options = options
    this.#database = options.database
  }

  /** Returns a trace with its details, by id or `X-Service-Ref`. Throws `not_found` for unknown ids and ids of other organizations. */
  async get(principal: Principal, idOrToken: string): Promise<TraceDetails> {
    const trace = await this.#find(principal, idOrToken)
    const { id: traceId } = trace
    const engagement = trace.tracking && (await this.#database.get(engagements, principal, traceId))?.record
    const attempts = await readAttempts(this.#database, principal.organizationId, trace)
    return { trace: traceSeenBy(principal, trace), attempts, engagement, reports: await this.#reports(principal.organizationId, traceId) }
  }

  /** Returns a trace that the caller submitted. Throws `not_found` for unknown ids and for traces of other submitters. */
  async sentBy(principal: Principal, idOrToken: string): Promise<Trace> {
    const trace = await this.#find(principal, idOrToken)
    if (trace.submittedBy !== principal.credentialId) throw noTrace()
    return trace
  }

  async #find(principal: Principal, idOrToken: string): Promise<Trace> {
    const { secrets } = this.#options
    const traceId = (secrets && traceOfServiceRef(secrets, idOrToken)) ?? idOrToken
    const stored = await this.#database.get(traces, principal, traceId)
    if (!stored) throw noTrace()
    return stored.record
  }

  /** Returns the beginning of a report's original mail. Throws `not_found`. */
  async reportMail(principal: Principal, traceId: string, reportId: string): Promise<Uint8Array> {
    const stored = await this.#database.get(traces, principal, traceId)
    const mail = stored && (await readRawReport(this.#database, principal.organizationId, `${traceId}/${reportId}`))
    if (!mail) throw new Refusal('not_found', 'No mail of this report is stored; use a report_id from the timeline of the trace.')
    return mail
  }

  /** Lists traces, newest first. A page may be short although more follow; it then has a cursor. Throws `not_found`. */
  async list(principal: Principal, query: PageQuery & TraceFilter): Promise<Page<Trace>> {
    const { project: projectId, reach } = await listed(this.#options, principal, query.projectId)
    const page = await matchingTraces(this.#database, reach, { ...query, projectId }, this.#options.readSubject)
    return mapRows(page, (trace) => traceSeenBy(principal, trace))
  }

  /** Counts the traces that `list` returns for the filter. Throws `not_found`. */
  async counts(principal: Principal, filter: TraceFilter): Promise<TraceCounts> {
    const { project: projectId, reach } = await listed(this.#options, principal, filter.projectId)
    return countTraces(this.#database, reach, { ...filter, projectId }, this.#options.readSubject)
  }

  /** Returns the redacted view by public id. Spec `GET /share/traces/{trace_id}`. */
  async shared(traceId: string): Promise<SharedTrace> {
    const found = await this.#database.lookup(traces, 'id', [traceId])
    if (!found || !(await isAlive(this.#database, found.organizationId, found.record.projectId))) throw noTrace()
    const attempts = await readAttempts(this.#database, found.organizationId, found.record)
    return redactTrace(found.record, attempts, await this.#reports(found.organizationId, traceId), this.#options.readSubject)
  }

  async #reports(organizationId: string, traceId: string): Promise<TraceReport[]> {
    return standingReports((await readReports(this.#database, organizationId, traceId)).map(({ record }) => record))
  }
}

const noTrace = (): Refusal => new Refusal('not_found', 'No trace has this id.')
