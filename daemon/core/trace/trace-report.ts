/**
 * Delivery reports about a message: one record per recipient and kind of report. A bounce notice, a webhook and a log line can report the
 * same bounce; the record keeps the best evidence, in any order of arrival.
 */
import { hash } from 'node:crypto'
import { toStored, type Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import * as z from 'zod'
import { foldAddress } from '../addresses.ts'

/** In the usual order of events. */
export const reportTypes = ['bounce_unparsed', 'deferred', 'delivered', 'bounced', 'complained'] as const
export type ReportType = (typeof reportTypes)[number]

/**
 * Evidence that links a report to the message, strongest first: our attempt, the VERP return path, our token, the queue id of the next
 * host, the Message-ID (known to everyone who saw the message), and recipient with subject and time.
 */
export const reportMatches = ['attempt', 'return_path', 'reference', 'queue_id', 'message_id', 'subject'] as const
export type ReportMatch = (typeof reportMatches)[number]

const schema = z.strictObject({
  /** See `reportId`. */
  id: z.string(),
  traceId: z.uuidv4(),
  projectId: z.string(),
  type: z.enum(reportTypes),
  /** Arrival of the first report of this kind. Better evidence does not change it. */
  at: z.int(),
  /** Time of the event by the reporter's clock. */
  occurredAt: z.int().nullable(),
  /** Envelope recipient; null if the report concerns an unknown recipient of several. */
  recipient: z.string().nullable(),
  /** Final recipient after forwarding, if different. */
  finalRecipient: z.string().nullable(),
  format: z.string(),
  /** Ingest source of the report; null for mail to the bounce domain. */
  sourceId: z.string().nullable(),
  proof: z.enum(reportMatches),
  /** Lists show unverified reports, which have no effect. */
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
  /** Feedback type of a complaint. */
  feedbackType: z.string().nullable(),
  /** Suppression created because of the report. */
  suppression: z.strictObject({ id: z.string(), reason: z.string() }).nullable(),
  /** Stored octets of the report mail. */
  rawBytes: z.int(),
  /** Report that stores the mail, if the mail covers several recipients. Absent: this report. */
  rawOf: z.string().optional(),
  /** Parsed from machine-readable fields, not from prose. Absent in records before 2026-11-22. */
  isStructured: z.boolean().optional(),
  /** The evidence suffices to suppress the recipient. Absent in records before 2026-11-22. */
  maySuppress: z.boolean().optional(),
  /** Number of replacements by better evidence; absent for none. */
  revisions: z.int().optional(),
  /** Latest webhook event of the report. */
  eventId: z.string().optional(),
})

export type TraceReport = Immutable<z.infer<typeof schema>>

export const traceReports = defineRecord<TraceReport>({
  name: 'feedback',
  schema,
  indexes: {
    /** Bounces and complaints by recipient domain and time. */
    trouble: ({ type, recipient, isUnverified, at }) =>
      recipient === null || isUnverified || (type !== 'bounced' && type !== 'complained') ? [] : [[domainOf(recipient), at]],
  },
  projectOf: ({ projectId }) => projectId,
})

const domainOf = (address: string): string => foldAddress(address).slice(address.lastIndexOf('@') + 1)

/** Returns an id that begins with the trace id, equal for all reports of this kind about this recipient. */
export function reportId(traceId: string, recipient: string | null, type: ReportType, isUnverified: boolean): string {
  const rest = hash('sha256', JSON.stringify([recipient && foldAddress(recipient), type, isUnverified])).slice(0, 16)
  return `${traceId}/${rest}`
}

/** Returns the id for reading the report's mail, without the trace id. */
export const keptMailId = ({ id, traceId, rawOf = id }: TraceReport): string => rawOf.slice(traceId.length + 1)

/** Returns the effective reports. A verified report replaces unverified reports of the same kind and recipient. */
export const standingReports = (reports: readonly TraceReport[]): TraceReport[] => {
  const verified = new Set(reports.filter(({ isUnverified }) => !isUnverified).map(subjectOf))
  return reports.filter((report) => !report.isUnverified || !verified.has(subjectOf(report)))
}

const subjectOf = ({ recipient, type }: TraceReport): string => JSON.stringify([recipient && foldAddress(recipient), type])

/** Returns all reports of a trace in order of arrival. */
export async function readReports(database: Database, organizationId: string, traceId: string): Promise<Stored<TraceReport>[]> {
  const rows: Stored<TraceReport>[] = []
  const start = pack([organizationId, traceReports.name, `${traceId}/`])
  const end = pack([organizationId, traceReports.name, `${traceId}0`]) // the character after the slash
  for await (const entry of database.kv.range({ start, end, whole: true })) rows.push(toStored(traceReports, entry))
  const rank = ({ record: { type } }: Stored<TraceReport>): number => reportTypes.indexOf(type)
  return rows.toSorted((a, b) => a.record.at - b.record.at || rank(a) - rank(b))
}
