/** Rows that no request of a tenant makes, put into the store: a webhook delivery, a report with its mail, and an opt-out. */
import { namedList, optOuts } from '#core/feedback/suppression/opt-out.ts'
import { keptReportKey } from '#core/trace/story/kept-report.ts'
import { reportId, keptMailId, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { announce } from '#core/webhooks/events/announce.ts'
import { webhookDeliveries } from '#core/webhooks/delivery.ts'
import { webhookEndpoints } from '#core/webhooks/endpoint.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { newId, newTraceId } from '#store/ids.ts'

/** An event for the endpoint; answers the id of its delivery. */
export async function announceTo(database: Database, organizationId: string, endpointId: string): Promise<string> {
  const stored = await database.get(webhookEndpoints, { organizationId }, endpointId)
  if (!stored) throw new Error('no such endpoint')
  const { projectId } = stored.record
  const trace = {
    id: newTraceId(),
    projectId,
    messageId: 'm',
    destinationId: null,
    recipients: [{ address: 'a@b.ch', status: 'failed' as const }],
  }
  const change = new Change()
  announce(change, new Map([[projectId, [stored.record]]]), {
    organizationId,
    type: 'failed',
    trace,
    recipient: 'a@b.ch',
    reason: null,
    at: Date.now(),
  })
  await database.commit(change)
  const { rows } = await database.list(webhookDeliveries, { organizationId }, { limit: 1 })
  return rows[0]?.record.id ?? ''
}

/** A report of the trace with the mail it came as. */
export async function addReport(database: Database, organizationId: string, traceId: string, projectId: string): Promise<string> {
  const report: TraceReport = {
    ...{ id: reportId(traceId, 'ada@example.ch', 'bounced', false), traceId, projectId, type: 'bounced', at: 1, occurredAt: null },
    ...{ recipient: 'ada@example.ch', finalRecipient: null, format: 'dsn', sourceId: null, proof: 'reference', isUnverified: false },
    ...{ bounce: 'hard', category: null, reason: 'x', action: null, status: null, smtpCode: null, diagnostic: null, remoteMta: null },
    ...{ reportingMta: null, feedbackType: null, suppression: null, rawBytes: 1 },
  }
  const change = new Change().insert(traceReports, organizationId, report)
  change.set(keptReportKey(organizationId, report.id), Buffer.from('x'))
  await database.commit(change)
  return keptMailId(report)
}

/** Somebody who left a list of the project. */
export async function addOptOut(database: Database, organizationId: string, projectId: string): Promise<string> {
  const { key, name } = namedList(projectId, 'news')
  const entry = {
    id: newId('uns', 1),
    email: 'left@example.ch',
    list: key,
    name,
    ownerId: projectId,
    projectId,
    traceId: null,
    createdAt: 1,
  }
  await database.commit(new Change().insert(optOuts, organizationId, entry))
  return entry.id
}
