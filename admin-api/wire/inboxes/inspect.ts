/** Deliverability tests and their reports on the wire. Spec "Inspect". */
import * as z from 'zod'
import type { InspectedTest } from '#core/inspect/inspect-tests.ts'
import { checkGroupNames, groupOfCheck, type CheckResult, type Evidence } from '#core/inspect/report.ts'
import { inspectStatus, inspectStatuses, type InspectTest } from '#core/inspect/inspect-test.ts'
import type { Clock } from '#core/clock.ts'
import { problemCode, problemCodes } from '#ingest/inspect/sentences/problems.ts'
import { encoder } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { orNull, wireTime } from '../fields/time.ts'

export const newInspectTest = z
  .strictObject({ project_id: id.optional().meta({ description: 'The project of the test. Defaults to the project of the key.' }) })
  .prefault({})

const grade = z.enum(['A', 'B', 'C', 'D', 'F'])
const summaryFields = {
  id: z.string(),
  address: z.string().meta({ description: 'The address for the test mail. Only the first mail is scored.' }),
  status: z.enum(inspectStatuses).meta({
    description:
      'waiting: no mail yet. scoring: the mail was received; the report is complete within about ten seconds. ready: the report ' +
      'is complete. failed: the mail could not be parsed. expired: no mail was received within 24 hours.',
  }),
  project_id: z.string(),
  created_at: wireTime,
  expires_at: wireTime.meta({ description: 'The address accepts mail until this time.' }),
  received_at: wireTime.nullable(),
  later_mails: z.int().meta({ description: 'Number of mails received after the first; they are not stored.' }),
  score: z.int().nullable().meta({ description: '0 to 100.' }),
  score_10: z.number().nullable(),
  grade: grade.nullable(),
  partial: z.boolean().nullable().meta({
    description: 'True if DNS did not answer every query, so that the score excludes some checks. Test again in a few minutes.',
  }),
  problem: z.string().nullable().meta({ description: 'Why the test failed and has no report.' }),
  problem_code: z
    .enum(problemCodes)
    .nullable()
    .meta({ description: 'The code of the problem, stable across changes of its text; null in tests of other releases.' }),
  report_url: z.string().meta({ description: 'A page that shows the report to anyone who has the link.' }),
}
const inspectSummaryShape = z.object(summaryFields).meta({ id: 'InspectTestSummary' })

const said = z
  .object({
    code: z.string().meta({ description: 'A code that is stable across changes of the English sentence.' }),
    values: z
      .record(z.string(), z.string())
      .meta({ description: 'The values in the sentence: domains, addresses, counts, words of the mail.' }),
  })
  .meta({ id: 'InspectSentence' })
const pair = z.object({
  label: z.string(),
  value: z.string(),
  label_said: said.nullable().meta({ description: 'The label as a code; null for a technical name.' }),
  value_said: said.nullable().meta({ description: 'The value as a code; null for verbatim text.' }),
})
const checkShape = z.object({
  id: z.string(),
  group: z.enum(checkGroupNames).meta({
    description: 'Subject of the check: the sender, the sending server, its domains, the format of the mail, or its content.',
  }),
  title: z.string(),
  status: z.enum(['pass', 'warn', 'fail', 'na']).meta({ description: 'na: the check is not counted.' }),
  points: z.int(),
  max: z.int(),
  summary: z.string(),
  evidence: z.array(pair),
  fix: z.string().nullable(),
  summary_said: z.array(said).meta({ description: 'The sentences of the summary as codes; empty in reports of earlier releases.' }),
  fix_said: z.array(said).meta({ description: 'The sentences of the fix as codes; empty in reports of earlier releases.' }),
  references: z.array(z.object({ title: z.string(), url: z.string() })),
})
const requirement = z.object({
  id: z.string(),
  rule: z.string(),
  senders: z.enum(['all', 'bulk']).meta({ description: 'bulk: senders of more than 5,000 mails per day.' }),
  checks: z.array(z.string()),
  providers: z.array(
    z.object({
      provider: z.enum(['gmail', 'yahoo', 'outlook', 'icloud']),
      need: z.enum(['must', 'advised']),
      status: z.enum(['met', 'missed', 'unknown', 'not_applicable']),
      refusal: z.string().nullable().meta({ description: 'How the provider refuses mail that violates the rule.' }),
    }),
  ),
})

const inspectTestShape = z
  .object({
    ...summaryFields,
    mail: z.object({ from: z.string(), subject: z.string() }).nullable(),
    checks: z.array(checkShape).meta({ description: 'All 17 checks if the status is ready; otherwise empty.' }),
    unanswered_checks: z
      .array(z.string())
      .meta({ description: 'Ids of checks that could not run because DNS did not answer. They are not counted.' }),
    requirements: z.array(requirement),
    caps: z.array(z.object({ id: z.string(), limit: z.int(), reason: z.string() })).meta({ description: 'Limits that lower the score.' }),
  })
  .meta({ id: 'InspectTest' })

export const sharedReportPath = ({ shareToken }: Pick<InspectTest, 'shareToken'>): string => `/share/inspect/${shareToken}`

/** The part of the core that determines the status and the link of a test. */
interface InspectUrls {
  readonly clock: Clock
  readonly baseUrl: string
}

const code = {
  address: ({ token, domain }: InspectTest) => `${token}@${domain}`,
  status: (test: InspectTest, { clock }: InspectUrls) => inspectStatus(test, clock.now()),
  received_at: ({ mail }: Pick<InspectTest, 'mail'>) => orNull(mail?.session.receivedAt),
  score: ({ result }: InspectTest) => result?.score ?? null,
  score_10: ({ result }: InspectTest) => (result ? result.score / 10 : null),
  grade: ({ result }: InspectTest) => result?.grade ?? null,
  partial: ({ result }: InspectTest) => result && (result.isPartial ?? false),
  problem_code: ({ problem }: InspectTest) => (problem === null ? null : (problemCode(problem) ?? null)),
  report_url: (test: InspectTest, { baseUrl }: InspectUrls) => baseUrl + sharedReportPath(test),
}

export const inspectSummary = encoder(inspectSummaryShape).from<InspectTest, InspectUrls>(code)

const looked = encoder(pair).from<Evidence>()
const check = encoder(checkShape).from<CheckResult>({
  group: ({ id: checkId }) => groupOfCheck(checkId),
  evidence: ({ evidence }) => evidence.map(looked.encode),
  summary_said: ({ summarySaid = [] }) => summarySaid,
  fix_said: ({ fixSaid = [] }) => fixSaid,
})

export const inspectTest = encoder(inspectTestShape)
  .from<InspectTest & Pick<InspectedTest, 'report'>, InspectUrls>({
    ...code,
    mail: ({ report }) => report?.mail ?? null,
    checks: ({ report }) => (report?.checks ?? []).map(check.encode),
    unanswered_checks: ({ report }) => report?.unanswered ?? [],
    requirements: ({ report }) => report?.requirements ?? [],
    caps: ({ report }) => report?.caps ?? [],
  })
  .via(({ test, report }: InspectedTest) => ({ ...test, report }))
