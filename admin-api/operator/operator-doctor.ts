/** What is wrong with the service and what to do: for its operator, and for the command line of the same machine. */
import { Readable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import * as z from 'zod'
import type { DoctorReport } from '#core/doctor/doctor.ts'
import { findingIds, severities } from '#core/doctor/finding.ts'
import { action, type Action } from '../actions/action.ts'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { encoderOf } from '../wire/fields/codec.ts'
import { noInput } from '../wire/fields/text.ts'
import { wireTime } from '../wire/fields/time.ts'
import { beatUntil } from './beats.ts'
import { requireRunToken } from './operator-link.ts'

export interface DoctorSource {
  report(): DoctorReport
  examine(): Promise<DoctorReport>
}

export const doctorPath = '/operator/doctor'
const path = '/operator/v1/doctor'
/** Who asks for a look gets its end when it comes within this time, and otherwise what is known so far. */
const answerMs = 20_000

const findingShape = z.object({
  id: z.enum(findingIds).meta({ description: 'What kind of finding it is; the documentation explains each.' }),
  severity: z.enum(severities).meta({
    description:
      '`error`: mail is lost, delayed or refused because of it. `warning`: it will be, or receivers trust less. `notice`: good to know.',
  }),
  subject: z.string().meta({ description: 'Which one, such as a domain or the id of a destination; empty for the service itself.' }),
  summary: z.string(),
  fix: z.string().meta({ description: 'What to do.' }),
})

const reportShape = z
  .object({
    ok: z.boolean().meta({ description: 'Whether nothing but notices was found.' }),
    checked_at: wireTime.nullable().meta({ description: 'When it was looked last; null before the first look has ended.' }),
    examining: z.boolean().meta({ description: 'A look is under way.' }),
    findings: z.array(findingShape).meta({ description: 'The worst first.' }),
  })
  .meta({ id: 'DoctorReport' })

const doctorReport = encoderOf(reportShape, ({ ok, checkedAt, examining, findings }: DoctorReport) => ({
  ...{ ok, checked_at: checkedAt === null ? null : new Date(checkedAt).toISOString(), examining },
  findings: findings.map((one) => ({ ...one })),
}))

const shared = { tags: ['operator'], scope: 'operator', input: noInput, output: doctorReport } as const

export const doctorActions: readonly Action<{ readonly doctor: DoctorSource }>[] = [
  action({
    ...shared,
    id: 'operatorGetDoctor',
    summary: 'Get what is wrong with the service, and what to do',
    description: 'The service looks by itself: at the process every 5 minutes, at DNS and blocklists every hour.',
    http: { method: 'GET', path },
    run: ({ core }) => core.doctor.report(),
  }),
  action({
    ...shared,
    id: 'operatorRunDoctor',
    summary: 'Look now for what is wrong with the service',
    description: 'Looks at everything, and answers after 20 seconds in any case; `examining` says that the look goes on.',
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

/** The whole look, however long it takes: for `postern doctor`. */
export const doctorOperation = (token: string, doctor: DoctorSource): Operation =>
  operation({
    method: 'GET',
    path: doctorPath,
    operationId: 'runDoctor',
    summary: 'Look now for what is wrong with the service',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    response: media('application/x-ndjson'),
    async handle({ headers, headOnly }) {
      requireRunToken(headers, token)
      return raw(headOnly ? '' : Readable.from(beatUntil(doctor.examine())), { contentType: 'application/x-ndjson', isLate: true })
    },
  })
