/** Problems of the service and their fixes, for the operator and for the command line on the same machine. */
import { Readable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import * as z from 'zod'
import type { DoctorReport } from '#core/doctor/doctor.ts'
import { findingParams } from '#core/findings/finding.ts'
import { findingKinds, severities } from '#core/findings/kinds.ts'
import { action, type Action } from '../actions/action.ts'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { encoderOf } from '../wire/fields/codec.ts'
import { noInput } from '../wire/fields/text.ts'
import { wireTime } from '../wire/fields/time.ts'
import { beatUntil } from './beats.ts'
import { requireRunToken } from './operator-link.ts'

export interface DoctorSource {
  report(): Promise<DoctorReport>
  examine(): Promise<DoctorReport>
}

export const doctorPath = '/operator/doctor'
const path = '/operator/v1/doctor'
/** A requested check returns its result within this time, or otherwise the current result. */
const answerMs = 20_000

const findingShape = z.object({
  id: z.enum(findingKinds).meta({ description: 'Kind of the finding; the documentation explains each.' }),
  severity: z.enum(severities).meta({
    description:
      '`error`: mail is lost, delayed or refused. `warning`: this may happen later, or receivers trust the mail less. `notice`: for information.',
  }),
  subject: z
    .string()
    .meta({ description: 'The affected object, such as a domain or the id of a destination; empty for the service itself.' }),
  organization_name: z.string().nullable().meta({ description: 'The organization that it concerns; null for the service itself.' }),
  params: findingParams.meta({ description: 'Counts, times in milliseconds, names and codes that the texts show.' }),
  title: z.string(),
  summary: z.string(),
  fix: z.string().meta({ description: 'What to do.' }),
})

const reportShape = z
  .object({
    ok: z.boolean().meta({ description: 'True if the findings contain only notices.' }),
    checked_at: wireTime.nullable().meta({ description: 'Time of the last check; null until the first check has ended.' }),
    examining: z.boolean().meta({ description: 'A check is running.' }),
    findings: z.array(findingShape).meta({ description: 'Most severe first.' }),
  })
  .meta({ id: 'DoctorReport' })

const doctorReport = encoderOf(reportShape, ({ ok, checkedAt, examining, findings }: DoctorReport) => ({
  ...{ ok, checked_at: checkedAt === null ? null : new Date(checkedAt).toISOString(), examining },
  findings: findings.map(({ id, severity, subject, organizationName = null, params, title, summary, fix }) => ({
    ...{ id, severity, subject, organization_name: organizationName, params, title, summary, fix },
  })),
}))

const shared = { tags: ['operator'], scope: 'operator', input: noInput, output: doctorReport } as const

export const doctorActions: readonly Action<{ readonly doctor: DoctorSource }>[] = [
  action({
    ...shared,
    id: 'operatorGetDoctor',
    summary: 'Get problems of the service and their fixes',
    description:
      'Open findings of the service and of its organizations. The service checks the process every 5 minutes, DNS and blocklists every hour.',
    http: { method: 'GET', path },
    run: ({ core }) => core.doctor.report(),
  }),
  action({
    ...shared,
    id: 'operatorRunDoctor',
    summary: 'Check the service for problems now',
    description: 'Runs all checks and responds within 20 seconds. `examining` is true if the checks are still running.',
    http: { method: 'POST', path },
    async run({ core: { doctor } }) {
      const waiting = new AbortController()
      const known = after(answerMs, undefined, { signal: waiting.signal, ref: false }).then(
        () => doctor.report(),
        () => doctor.report(),
      )
      return Promise.race([doctor.examine(), known]).finally(() => waiting.abort())
    },
  }),
]

/** Returns the result of the whole check without a time limit, for `postern doctor`. */
export const doctorOperation = (token: string, doctor: DoctorSource): Operation =>
  operation({
    method: 'GET',
    path: doctorPath,
    operationId: 'runDoctor',
    summary: 'Check the service for problems now',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    response: media('application/x-ndjson'),
    async handle({ headers, headOnly }) {
      requireRunToken(headers, token)
      return raw(headOnly ? '' : Readable.from(beatUntil(doctor.examine())), { contentType: 'application/x-ndjson', isLate: true })
    },
  })
