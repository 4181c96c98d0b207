/**
 * Reports about a message after it left: one record for each recipient and kind of report, beside the trace. A bounce notice, a
 * webhook and a log line can all report one bounce; the best evidence stands in the record, in whatever order they come.
 */
import { hash } from 'node:crypto'
import { toStored, type Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import * as z from 'zod'
import { foldAddress } from '../addresses.ts'

/** In the order in which they usually follow one another. */
export const reportTypes = ['bounce_unparsed', 'deferred', 'delivered', 'bounced', 'complained'] as const
export type ReportType = (typeof reportTypes)[number]

/**
 * What led from the report to the message, strongest first: our own attempt, the return path of one recipient, a token of ours, the
 * queue id that the next host gave, the Message-ID, known to whoever saw the message, and recipient with subject and time.
 */
export const reportMatches = ['attempt', 'return_path', 'reference', 'queue_id', 'message_id', 'subject'] as const
export type ReportMatch = (typeof reportMatches)[number]

const schema = z.strictObject({
  /** See `reportId`. */
  id: z.string(),
  traceId: z.uuidv4(),
  projectId: z.string(),
  type: z.enum(reportTypes),
  /** When the first report of this kind came; better evidence changes the rest of the record and not this. */
  at: z.int(),
  /** When it happened by the teller's clock. */
  occurredAt: z.int().nullable(),
  /** As the message was addressed; null when the report does not say which one of several. */
  recipient: z.string().nullable(),
  /** Whom it reached last, where that differs: mail is forwarded. */
  finalRecipient: z.string().nullable(),
  format: z.string(),
  /** The ingest source that reported it; null at the bounce domain. */
  sourceId: z.string().nullable(),
  proof: z.enum(reportMatches),
  /** It is unverified: it is shown and changes nothing. */
  isUnverified: z.boolean(),
  bounce: z.enum(['hard', 'soft', 'block']).nullable(),
  category: z.string().nullable(),
  /** One plain sentence. */
  reason: z.string(),
  action: z.string().nullable(),
  /** Enhanced status code, RFC 3463. */
  status: z.string().nullable(),
  smtpCode: z.int().nullable(),
  diagnostic: z.string().nullable(),
  remoteMta: z.string().nullable(),
  reportingMta: z.string().nullable(),
  /** Of a complaint. */
  feedbackType: z.string().nullable(),
  /** The recipient went on the suppression list because of it. */
  suppression: z.strictObject({ id: z.string(), reason: z.string() }).nullable(),
  /** Octets of the mail itself that are kept. */
  rawBytes: z.int(),
  /** The report that the mail is kept with, where it is about several recipients; this one when absent. */
  rawOf: z.string().optional(),
  /** It was read from fields made for programs, not from prose. Absent in records of before 2026-11-22. */
  isStructured: z.boolean().optional(),
  /** The evidence is good enough to suppress the recipient. Absent in records of before 2026-11-22. */
  maySuppress: z.boolean().optional(),
  /** How often better evidence replaced what stood here; none when absent. */
  revisions: z.int().optional(),
  /** The last webhook event of it. */
  eventId: z.string().optional(),
})

export type TraceReport = Immutable<z.infer<typeof schema>>

export const traceReports = defineRecord<TraceReport>({
  name: 'feedback',
  schema,
  indexes: {
    /** What went wrong, by the recipient's domain and time. */
    trouble: ({ type, recipient, isUnverified, at }) =>
      recipient === null || isUnverified || (type !== 'bounced' && type !== 'complained') ? [] : [[domainOf(recipient), at]],
  },
  projectOf: ({ projectId }) => projectId,
})

const domainOf = (address: string): string => foldAddress(address).slice(address.lastIndexOf('@') + 1)

/** Begins with the trace, and is the same for every report of this kind about this recipient. */
export function reportId(traceId: string, recipient: string | null, type: ReportType, isUnverified: boolean): string {
  const rest = hash('sha256', JSON.stringify([recipient && foldAddress(recipient), type, isUnverified])).slice(0, 16)
  return `${traceId}/${rest}`
}

/** The id under which the mail of a report is read, without that of its trace. */
export const keptMailId = ({ id, traceId, rawOf = id }: TraceReport): string => rawOf.slice(traceId.length + 1)

/** The reports that count: unverified ones give way to verified ones of the same kind about the same recipient. */
export const standingReports = (reports: readonly TraceReport[]): TraceReport[] => {
  const verified = new Set(reports.filter(({ isUnverified }) => !isUnverified).map(subjectOf))
  return reports.filter((report) => !report.isUnverified || !verified.has(subjectOf(report)))
}

const subjectOf = ({ recipient, type }: TraceReport): string => JSON.stringify([recipient && foldAddress(recipient), type])

/** All reports of a trace, in the order in which they came. */
export async function readReports(database: Database, organizationId: string, traceId: string): Promise<Stored<TraceReport>[]> {
  const rows: Stored<TraceReport>[] = []
  const start = pack([organizationId, traceReports.name, `${traceId}/`])
  const end = pack([organizationId, traceReports.name, `${traceId}0`]) // the character after the slash
  for await (const entry of database.kv.range({ start, end, whole: true })) rows.push(toStored(traceReports, entry))
  const rank = ({ record: { type } }: Stored<TraceReport>): number => reportTypes.indexOf(type)
  return rows.toSorted((a, b) => a.record.at - b.record.at || rank(a) - rank(b))
}
