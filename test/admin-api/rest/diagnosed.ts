/** What the tests of diagnoses share: questions, and what delivery and later reports would have written. */
import { afterReport } from '#core/feedback/apply/decide.ts'
import { reportId, traceReports, type TraceReport } from '#core/trace/trace-report.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { Change } from '#store/change.ts'
import type { RestClient } from '../../support/rest.ts'
import { type Rig } from './rig.ts'

const plain = { from: 'shop@example.ch', subject: 'Order', text: 'x' }
export const secrets = new SecretBox(Buffer.alloc(32, 7))
export const hour = 3_600_000

export const send = async (rest: RestClient, to: string, changes: object = {}): Promise<string> =>
  String((await rest.must('POST', '/v1/messages', { ...plain, to, ...changes }))['trace_id'])
export const missing = (rest: RestClient, recipient: string, time_window?: string) =>
  rest.must(
    'GET',
    `/v1/diagnose/missing?${new URLSearchParams({ recipient, ...(time_window !== undefined && { time_window }) }).toString()}`,
  )
export const bounce = (rest: RestClient, message_id: string) =>
  rest.must('GET', `/v1/diagnose/bounce?${new URLSearchParams({ message_id }).toString()}`)

export interface Told {
  readonly id: string
  readonly rank: number
  readonly confidence: number
  readonly explanation: string
  readonly next_action: { readonly text: string; readonly tool?: string; readonly arguments?: Readonly<Record<string, string>> }
}
export const hypothesesOf = (answer: Readonly<Record<string, unknown>>): Told[] => answer['hypotheses'] as Told[]
export const idsOf = (answer: Readonly<Record<string, unknown>>): string[] => hypothesesOf(answer).map(({ id }) => id)

/** Writes what the delivery and later reports would have written. */
export async function rewrite({ database, organizationId }: Rig, traceId: string, change: (trace: Trace) => Trace): Promise<void> {
  const stored = await database.get(traces, { organizationId }, traceId)
  if (!stored) throw new Error('no trace')
  await database.commit(new Change().rewrite(traces, organizationId, stored, change(stored.record)))
}

export const taken = (rig: Rig, traceId: string): Promise<void> =>
  rewrite(rig, traceId, (trace) => ({
    ...trace,
    ...{ status: 'sent', nextAttemptAt: null },
    recipients: trace.recipients.map((one) => ({
      ...one,
      status: 'sent',
      reply: { code: 250, enhanced: '2.0.0', text: 'Ok: queued as 4bXyZ91Qwz' },
    })),
  }))

export async function report(rig: Rig, traceId: string, changes: Partial<TraceReport>): Promise<void> {
  const { database, organizationId, clock } = rig
  const { record } = (await database.get(traces, { organizationId }, traceId)) ?? {}
  if (!record) throw new Error('no trace')
  const recipient = record.recipients[0]?.address ?? ''
  const { type = 'bounced', isUnverified = false } = changes
  const made: TraceReport = {
    ...{ id: reportId(traceId, recipient, type, isUnverified), traceId, projectId: record.projectId, type, isUnverified, recipient },
    ...{ at: clock.now(), occurredAt: null, finalRecipient: null, format: 'dsn', sourceId: null, proof: 'return_path', bounce: 'hard' },
    ...{ category: null, reason: 'It came back.', action: 'failed', status: null, smtpCode: null, diagnostic: null, remoteMta: null },
    ...{ reportingMta: null, feedbackType: null, suppression: null, rawBytes: 0 },
    ...changes,
  }
  await database.commit(new Change().insert(traceReports, organizationId, made))
  await rewrite(rig, traceId, (trace) => afterReport(trace, made, made.at))
}
