/** Deliverability tests and their reports on the wire. Spec "Inspect". */
import * as z from 'zod'
import type { InspectedTest } from '#core/inspect/inspect-tests.ts'
import { inspectStatus, inspectStatuses, type InspectTest } from '#core/inspect/inspect-test.ts'
import { id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

export const newInspectTestBody = z
  .strictObject({ project_id: id.optional().meta({ description: 'The project that it belongs to; that of the key unless told.' }) })
  .prefault({})

const grade = z.enum(['A', 'B', 'C', 'D', 'F'])
const summaryFields = {
  id: z.string(),
  address: z.string().meta({ description: 'Send one mail here; the first one is scored.' }),
  status: z.enum(inspectStatuses).meta({
    description:
      'waiting: no mail yet. scoring: it came, and the report follows within some ten seconds. ready. failed: the mail could not be read. expired: none came within a day.',
  }),
  project_id: z.string(),
  created_at: wireTime,
  expires_at: wireTime.meta({ description: 'Until then mail is taken.' }),
  received_at: wireTime.nullable(),
  later_mails: z.int().meta({ description: 'Mails that came after the first; they are counted and not kept.' }),
  score: z.int().nullable().meta({ description: '0 to 100.' }),
  score_10: z.number().nullable(),
  grade: grade.nullable(),
  partial: z.boolean().nullable().meta({
    description: 'True: DNS did not answer all questions, so the score leaves out what could not be checked; test again in some minutes.',
  }),
  problem: z.string().nullable().meta({ description: 'Why there is no report, when it failed.' }),
  report_url: z.string().meta({ description: 'A page for people that shows the report to whoever has the link.' }),
}
export const inspectSummaryShape = z.object(summaryFields).meta({ id: 'InspectTestSummary' })

const pair = z.object({ label: z.string(), value: z.string() })
const check = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(['pass', 'warn', 'fail', 'na']).meta({ description: 'na does not count.' }),
  points: z.int(),
  max: z.int(),
  summary: z.string(),
  evidence: z.array(pair),
  fix: z.string().nullable(),
  references: z.array(z.object({ title: z.string(), url: z.string() })),
})
const requirement = z.object({
  id: z.string(),
  rule: z.string(),
  senders: z.enum(['all', 'bulk']).meta({ description: 'bulk: who sends more than 5,000 mails a day.' }),
  checks: z.array(z.string()),
  providers: z.array(
    z.object({
      provider: z.enum(['gmail', 'yahoo', 'outlook', 'icloud']),
      need: z.enum(['must', 'advised']),
      status: z.enum(['met', 'missed', 'unknown', 'not_applicable']),
      refusal: z.string().nullable().meta({ description: 'How mail that misses the rule is refused.' }),
    }),
  ),
})

export const inspectTestShape = z
  .object({
    ...summaryFields,
    mail: z.object({ from: z.string(), subject: z.string() }).nullable(),
    checks: z.array(check).meta({ description: 'All 17 when ready; empty before.' }),
    unanswered_checks: z
      .array(z.string())
      .meta({ description: 'Ids of the checks that could not be made because DNS did not answer. They do not count.' }),
    requirements: z.array(requirement),
    caps: z.array(z.object({ id: z.string(), limit: z.int(), reason: z.string() })).meta({ description: 'What holds the score down.' }),
  })
  .meta({ id: 'InspectTest' })

export const sharedReportPath = ({ shareToken }: Pick<InspectTest, 'shareToken'>): string => `/share/inspect/${shareToken}`

export function toWireInspectSummary(test: InspectTest, nowMs: number, baseUrl: string): z.input<typeof inspectSummaryShape> {
  const { result, mail } = test
  return {
    id: test.id,
    address: `${test.token}@${test.domain}`,
    status: inspectStatus(test, nowMs),
    project_id: test.projectId,
    created_at: toWireTime(test.createdAt),
    expires_at: toWireTime(test.expiresAt),
    received_at: mail && toWireTime(mail.session.receivedAt),
    later_mails: test.laterMails,
    score: result?.score ?? null,
    score_10: result ? result.score / 10 : null,
    grade: result?.grade ?? null,
    partial: result && (result.isPartial ?? false),
    problem: test.problem,
    report_url: baseUrl + sharedReportPath(test),
  }
}

export function toWireInspectTest({ test, report }: InspectedTest, nowMs: number, baseUrl: string): z.input<typeof inspectTestShape> {
  return {
    ...toWireInspectSummary(test, nowMs, baseUrl),
    mail: report?.mail ?? null,
    checks: (report?.checks ?? []).map((result) => ({ ...result, evidence: [...result.evidence], references: [...result.references] })),
    unanswered_checks: [...(report?.unanswered ?? [])],
    requirements: (report?.requirements ?? []).map((rule) => ({ ...rule, checks: [...rule.checks], providers: [...rule.providers] })),
    caps: [...(report?.caps ?? [])],
  }
}
