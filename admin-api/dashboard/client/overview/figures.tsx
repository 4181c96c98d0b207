/** Figures of the chosen period: messages, recipients, and the use of limits. */
import type { JSX } from 'preact'
import { projectId, query } from '../app/location.ts'
import { areProjectsKnown, projects } from '../app/projects.ts'
import { useRead, type Reading } from '../app/query.ts'
import { asQuery, rangeOf, type Range, type TimeSpan } from '../insights/time-range.ts'
import { endedOf } from '../insights/rates.ts'
import { useInsight, useSpan } from '../insights/reading.tsx'
import { Gauge } from '../parts/controls.tsx'
import { Bone, FaultText } from '../parts/states.tsx'
import { decimal, month, number, percent } from '../parts/time.ts'
import type { DeliveryInsight, Project, ProjectState, SendInsight } from '../wire/api.d.ts'
import { percentFrom, rateLimits } from '#config/watch/limits.ts'
import type { Answer } from '../wire/route.ts'
import { texts } from '../texts/texts.ts'

interface Figure {
  readonly label: string
  /** Undefined while it is loading. */
  readonly value: string | undefined
  readonly unit?: string | undefined
  readonly change?: number | undefined
  readonly gauge?: { readonly used: number; readonly limit: number } | undefined
}

interface FiguresProps {
  /** Figures of the last day. The component reads figures of longer periods. */
  readonly day: Reading<DeliveryInsight>
  readonly sends: Reading<SendInsight>
  /** Use of the limits of the organization. */
  readonly account: Reading<ProjectState>
}

export function Figures({ day, sends, account }: FiguresProps): JSX.Element {
  const w = texts()
  const range = rangeOf(query.value)
  const delivery = useOfRange('/v1/insights/delivery', range, day)
  const sent = useOfRange('/v1/insights/sends', range, sends)
  const failed = [delivery, sent].find(({ state, data }) => state === 'failed' && data === undefined)
  const change = useChange(range, sent.data)
  if (failed?.state === 'failed')
    return (
      <div class="ledger failed" role="alert">
        <p>
          <b>{w.insightFailed}.</b> <FaultText fault={failed.fault} />{' '}
          <button class="as-link" onClick={() => [delivery, sent].map(({ reload }) => reload())}>
            {w.tryAgain}
          </button>
        </p>
      </div>
    )
  const figures: readonly Figure[] = [
    { label: w.sentFigure, value: sent.data && number(sent.data.totals.relayed), change },
    ...shares(delivery.data),
    captures(),
    sendsToday(account),
  ]
  return (
    <dl class="ledger">
      {figures.map(({ label, value, unit, change: by, gauge }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {value === undefined ? (
              <Bone />
            ) : (
              <>
                <b>{value}</b> <span>{by === undefined ? unit : <Change by={by} range={range} />}</span>
                {gauge && <Gauge {...gauge} />}
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const lengths: Readonly<Record<Range, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }
const dayMs = 86_400_000
/** A day is compared with the same day of the week before, and longer periods with the period before. */
const distanceOf = (range: Range): number => Math.max(7, lengths[range])

/** Returns the figures of the last day, or reads the figures of a longer period. */
function useOfRange<R extends '/v1/insights/delivery' | '/v1/insights/sends'>(
  route: R,
  range: Range,
  ofDay: Reading<Answer<R>>,
): Reading<Answer<R>> {
  const { span } = useSpan()
  const read = useInsight(route, range === '24h' ? undefined : span)
  return range === '24h' ? ofDay : read
}

/** Returns the change of sent messages as a share. Undefined for few messages. */
function useChange(range: Range, sent: SendInsight | undefined): number | undefined {
  const { span } = useSpan()
  const shift = distanceOf(range) * dayMs
  const before: TimeSpan = { ...span, from: span.from - shift, to: span.to - shift }
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const { data } = useRead('/v1/insights/sends', { query: { ...project, ...asQuery(before) } })
  if (!sent || !data || data.totals.relayed < percentFrom) return undefined
  return sent.totals.relayed / data.totals.relayed - 1
}

function Change({ by, range }: { readonly by: number; readonly range: Range }): JSX.Element {
  const rounded = Math.round(by * 100)
  const sign = rounded > 0 ? '+' : rounded < 0 ? '−' : '±'
  return (
    <>
      <span class={rounded > 0 ? 'good' : ''}>{`${sign}${decimal(Math.abs(rounded), 0)}\u00a0%`}</span>{' '}
      {texts().changeIn({ days: distanceOf(range) })}
    </>
  )
}

/** Shares of the recipients. The limits are those of mailbox providers. */
function shares(delivery: DeliveryInsight | undefined): readonly Figure[] {
  const w = texts()
  const labels = [w.takenShare, w.bouncedShare, w.complaintShare]
  if (!delivery) return labels.map((label) => ({ label, value: undefined }))
  const { taken, bounced, complained } = delivery.totals
  const all = endedOf(delivery.totals)
  const unit = w.of({ limit: number(all) })
  // a percentage of few recipients says little
  const isFew = all > 0 && all < percentFrom
  const share = (part: number): string =>
    all === 0 ? '–' : isFew ? number(part) : percent(part / all, part === 0 || part === all ? 0 : part / all < 0.01 ? 2 : 1)
  const limitedTo = (part: number, limit: number, text: string): Pick<Figure, 'unit' | 'gauge'> =>
    isFew ? { unit } : { unit: text, gauge: { used: all === 0 ? 0 : (100 * part) / all, limit } }
  return [
    { label: w.takenShare, value: share(taken), unit },
    { label: w.bouncedShare, value: share(bounced), ...limitedTo(bounced, rateLimits.bounced.warn, w.bounceLimit) },
    { label: w.complaintShare, value: share(complained), ...limitedTo(complained, rateLimits.complained.warn, w.complaintLimit) },
  ]
}

const counted = (): readonly Project[] =>
  projectId.value === undefined ? projects.value : projects.value.filter(({ id }) => id === projectId.value)

const sumOf = (field: 'captures_this_month' | 'project_sends_today'): number => counted().reduce((sum, { [field]: some }) => sum + some, 0)

function captures(): Figure {
  const label = texts().capturesIn({ month: month() })
  if (!areProjectsKnown.value) return { label, value: undefined }
  const [only, ...others] = counted()
  return limited(label, sumOf('captures_this_month'), others.length === 0 ? (only?.monthly_capture_cap ?? null) : null)
}

/** Sends of the project and its budget, or of the organization and its limit. */
function sendsToday({ data, state }: Reading<ProjectState>): Figure {
  const label = texts().sendsToday
  const [project] = projectId.value === undefined ? [] : counted()
  if (projectId.value === undefined && data) return limited(label, data.sends_today, data.sends_cap)
  if (!areProjectsKnown.value || (projectId.value === undefined && state === 'loading')) return { label, value: undefined }
  return limited(label, sumOf('project_sends_today'), project?.send_budget ?? null)
}

const limited = (label: string, used: number, limit: number | null): Figure => ({
  label,
  value: number(used),
  unit: limit === null ? undefined : texts().of({ limit: number(limit) }),
  gauge: limit === null ? undefined : { used, limit },
})
