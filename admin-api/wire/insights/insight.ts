/** Statistics over time on the wire: a point for each step, and the totals. */
import * as z from 'zod'
import {
  attemptNames,
  projectNames,
  recipientNames,
  refusedLetter,
  reportNames,
  smtpRefusedLetter,
  suppressedLetter,
} from '#core/insights/count.ts'
import type { Counted, CountedApart } from '#core/insights/insights.ts'
import { percentilesOf, type Percentiles, type Timing } from '#core/insights/latency.ts'
import { suppressionSources } from '#core/feedback/suppression/suppression.ts'
import { encoderOf, type Encoder } from '../fields/codec.ts'
import { project } from '../fields/paging.ts'
import { withNumberForm } from '../fields/text-form.ts'
import { timeInput, toWireTime, wireTime } from '../fields/time.ts'

type Counts = ReadonlyMap<string, number>

const stepMeta = {
  description:
    'Length of a step in seconds, a multiple of 60. The default gives at most 100 points. Minute steps are available for 2 days, ' +
    'quarter-hour steps for 8 days, hour steps for 92 days, day steps for 2 years.',
}
const maxStep = 31 * 86_400
const step = withNumberForm(z.int().min(60).max(maxStep).optional().meta(stepMeta), /^[1-9]\d{0,6}$/, 'must be a whole number of seconds')

/** The fields of every operation for statistics. */
export const insightFields = {
  project,
  from: timeInput.optional().meta({
    description:
      'Start of the first step, rounded down to a whole minute, hour or day according to the step. Defaults to a day before `to`.',
  }),
  to: timeInput.optional().meta({ description: 'End of the period, rounded up to a whole step. Defaults to the end of the current step.' }),
  step_seconds: step,
}

const times = { from: wireTime, to: wireTime, step_seconds: z.int() }
const timesOf = ({ from, to, stepSeconds }: Pick<Counted, 'from' | 'to' | 'stepSeconds'>) => ({
  ...{ from: toWireTime(from), to: toWireTime(to), step_seconds: stepSeconds },
})

type Shape = Readonly<Record<string, z.ZodType>>
type Values<S extends Shape> = z.input<z.ZodObject<S>>

/** Creates an encoder of points and totals with these fields; totals may have additional fields. */
function figures<S extends Shape, T extends Shape>(
  id: string,
  shape: S,
  read: (counts: Counts) => Values<S>,
  more?: { readonly shape: T; readonly read: (counts: Counts) => Values<T> },
): Encoder<Counted> {
  const schema = z
    .object({ ...times, points: z.array(z.object({ at: wireTime, ...shape })), totals: z.object({ ...shape, ...more?.shape }) })
    .meta({ id })
  return encoderOf(schema as z.ZodType, (counted: Counted) => ({
    ...timesOf(counted),
    points: counted.points.map(({ at, counts }) => ({ at: toWireTime(at), ...read(counts) })),
    totals: { ...read(counted.total), ...more?.read(counted.total) },
  }))
}

const count = z.int().min(0)
type Numbers<Names extends Readonly<Record<string, string>>> = Readonly<Record<keyof Names & string, number>>

/** Maps each field to the name of one count. */
function plain<const Names extends Readonly<Record<string, string>>>(names: Names) {
  const fields = Object.entries(names)
  const shape = Object.fromEntries(fields.map(([field]) => [field, count])) as Readonly<Record<keyof Names & string, typeof count>>
  const read = (counts: Counts) => Object.fromEntries(fields.map(([field, name]) => [field, counts.get(name) ?? 0])) as Numbers<Names>
  return { shape, read }
}

/** Counts whose names begin with a letter, keyed by the rest of the name. */
const byCode = (letter: string, counts: Counts): Record<string, number> =>
  Object.fromEntries(
    [...counts].flatMap(([name, times]) => (name.length > 1 && name.startsWith(letter) ? [[name.slice(1), times] as const] : [])),
  )
const sumOf = (values: Readonly<Record<string, number>>): number => Object.values(values).reduce((sum, one) => sum + one, 0)
const codes = z.record(z.string(), count).meta({ description: 'By the code of the refusal.' })

const byOutcome = {
  relayed: projectNames.relayed,
  captured_sandbox_destination: projectNames['captured.sandbox_destination'],
  captured_no_route: projectNames['captured.no_route'],
  captured_anonymous_project: projectNames['captured.anonymous_project'],
} as const
const messages = plain({ ...byOutcome, failed: projectNames.failed })
export const sendInsight = figures(
  'SendInsight',
  { ...messages.shape, refused: count.meta({ description: 'Refused sends; most have no trace.' }) },
  (counts) => ({ ...messages.read(counts), refused: sumOf(byCode(refusedLetter, counts)) }),
  { shape: { refused_by_code: codes }, read: (counts) => ({ refused_by_code: byCode(refusedLetter, counts) }) },
)

const recipients = plain(recipientNames)
export const deliveryInsight = figures('DeliveryInsight', recipients.shape, recipients.read)

const milliseconds = z.int().nullable()
const percentileShape = z
  .object({ count, p50_ms: milliseconds, p95_ms: milliseconds, p99_ms: milliseconds })
  .meta({ description: 'Percentiles may be up to 50 % too high; null without measurements.' })
const percentiles = (timing: Timing, counts: Counts): z.input<typeof percentileShape> => toWire(percentilesOf(timing, counts))
const toWire = ({ count: times, p50Ms, p95Ms, p99Ms }: Percentiles) => ({ count: times, p50_ms: p50Ms, p95_ms: p95Ms, p99_ms: p99Ms })
export const latencyInsight = figures(
  'LatencyInsight',
  { first_attempt: percentileShape, attempt: percentileShape, delivery: percentileShape },
  (counts) => ({
    first_attempt: percentiles('first_attempt', counts),
    attempt: percentiles('attempt', counts),
    delivery: percentiles('delivery', counts),
  }),
)

const webhooks = plain({
  succeeded: projectNames.webhookSucceeded,
  failed: projectNames.webhookFailed,
  parked: projectNames.webhookParked,
})
const timed = milliseconds.meta({
  description: 'Duration of requests with any outcome; may be up to 50 % too high. null without requests.',
})
const webhookShape = { ...webhooks.shape, p50_ms: timed, p95_ms: timed }
const webhooksOf = (counts: Counts) => {
  const { p50Ms, p95Ms } = percentilesOf('attempt', counts)
  return { ...webhooks.read(counts), p50_ms: p50Ms, p95_ms: p95Ms }
}
export const webhookInsight = figures('WebhookInsight', webhookShape, webhooksOf)

const sources = plain(Object.fromEntries(suppressionSources.map((source) => [source, suppressedLetter + source])))
export const suppressionInsight = figures('SuppressionInsight', sources.shape, sources.read)

const logins = plain({ logins: projectNames.login, refused_logins: projectNames.loginRefused })
export const smtpInsight = figures(
  'SmtpInsight',
  {
    ...logins.shape,
    refused: count.meta({ description: 'Senders and messages refused after the login.' }),
    refused_by_code: codes,
  },
  (counts) => {
    const refused = byCode(smtpRefusedLetter, counts)
    return { ...logins.read(counts), refused: sumOf(refused), refused_by_code: refused }
  },
)

const leftOut = count.meta({ description: 'Number of further entries with activity that are not listed.' })
const attempts = plain(attemptNames)
const healthShape = { ...attempts.shape, p95_ms: milliseconds }
const healthOf = (counts: Counts) => ({ ...attempts.read(counts), p95_ms: percentilesOf('attempt', counts).p95Ms })
const destinationShape = z.object({
  destination_id: z.string(),
  points: z.array(z.object({ at: wireTime, ...healthShape })),
  totals: z.object({ ...healthShape, ...recipients.shape }),
})
export const destinationInsight = encoderOf(
  z.object({ ...times, data: z.array(destinationShape), left_out: leftOut }).meta({ id: 'DestinationInsight' }),
  (apart: CountedApart) => ({
    ...timesOf(apart),
    data: apart.subjects.map(({ subject, points, total }) => ({
      destination_id: subject,
      points: points.map(({ at, counts }) => ({ at: toWireTime(at), ...healthOf(counts) })),
      totals: { ...healthOf(total), ...recipients.read(total) },
    })),
    left_out: apart.leftOut,
  }),
)

/** Creates an encoder of statistics by resource. `field` is the name of the field with the id of the resource. */
function figuresApart<S extends Shape>(id: string, field: string, shape: S, read: (counts: Counts) => Values<S>): Encoder<CountedApart> {
  const points = z.array(z.object({ at: wireTime, ...shape }))
  const one = z.object({ [field]: z.string(), points, totals: z.object(shape) })
  return encoderOf(z.object({ ...times, data: z.array(one), left_out: leftOut }).meta({ id }) as z.ZodType, (apart: CountedApart) => ({
    ...timesOf(apart),
    data: apart.subjects.map(({ subject, points: its, total }) => ({
      [field]: subject,
      points: its.map(({ at, counts }) => ({ at: toWireTime(at), ...read(counts) })),
      totals: read(total),
    })),
    left_out: apart.leftOut,
  }))
}

export const webhookEndpointInsight = figuresApart('WebhookEndpointInsight', 'endpoint_id', webhookShape, webhooksOf)

const uses = plain(byOutcome)
export const templateInsight = figuresApart('TemplateInsight', 'template_id', uses.shape, uses.read)
export const publishableKeyInsight = figuresApart(
  'PublishableKeyInsight',
  'publishable_key_id',
  { ...uses.shape, refused: count, refused_by_code: codes },
  (counts) => ({ ...uses.read(counts), refused: sumOf(byCode(refusedLetter, counts)), refused_by_code: byCode(refusedLetter, counts) }),
)

const reports = plain(reportNames)
export const ingestSourceInsight = figuresApart('IngestSourceInsight', 'source_id', reports.shape, reports.read)

const domainShape = z.object({
  domain: z.string().nullable().meta({ description: 'null for the sum of the domains that are not counted separately.' }),
  ...recipients.shape,
})
export const domainInsight = encoderOf(
  z.object({ ...times, data: z.array(domainShape), left_out: leftOut }).meta({ id: 'DomainInsight' }),
  (apart: CountedApart) => ({
    ...timesOf(apart),
    data: apart.subjects.map(({ subject, total }) => ({ domain: subject === '' ? null : subject, ...recipients.read(total) })),
    left_out: apart.leftOut,
  }),
)
