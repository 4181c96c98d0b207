/** The plots: each reads its figures and converts them to series. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Segments } from '../parts/controls.tsx'
import { rate } from '../health/rate.ts'
import { decimal, number, percent, span as duration } from '../parts/time.ts'
import type { DeliveryInsight } from '../wire/api.d.ts'
import { rateLimits } from '#config/watch/limits.ts'
import { texts } from '../texts/texts.ts'
import type { Explore } from '../plots/plot-key.tsx'
import { texts as plotTexts } from '../plots/plots-texts.ts'
import type { Before, LookName, PlotData, Series } from './drawing.ts'
import { Plot } from './plot.tsx'
import { endedOf, ratesOf, type Ended } from './rates.ts'
import { WithInsight, type Compared } from './reading.tsx'
import { stepName, type TimeSpan } from './time-range.ts'

export interface PlotOf {
  readonly span: TimeSpan
  readonly isShown?: boolean
  readonly height?: number
  /** Whether the plot has no tools. */
  readonly isBrief?: boolean
}

export type Point = Readonly<Record<string, unknown>> & { readonly at: string }
export interface Figures<P extends Point> {
  readonly points: readonly P[]
  readonly totals: Omit<P, 'at'>
}

export const timesOf = (points: readonly Point[]): readonly number[] => points.map(({ at }) => Date.parse(at))

/** Returns one series per field, in the given order. */
export function counted<P extends Point>(
  { points, totals }: Figures<P>,
  fields: readonly (readonly [
    field: keyof P & string,
    label: string,
    look: LookName,
    kind: Series['kind'],
    explore?: Readonly<Record<string, string>>,
  ])[],
): readonly Series[] {
  return fields.map(([field, label, look, kind, explore]) => ({
    ...{ label, look, kind, ...(explore && { explore }) },
    values: points.map((point) => point[field] as number),
    total: number((totals as Readonly<Record<string, number>>)[field] ?? 0),
  }))
}

/** Returns the sum of the fields for the previous period. */
export function sumsBefore<P extends Point>(before: Figures<P> | undefined, fields: readonly (keyof P & string)[]): Before | undefined {
  if (!before) return undefined
  const values = before.points.map((point) => fields.reduce((sum, field) => sum + (point[field] as number), 0))
  return { values, label: texts().periodBefore, total: number(values.reduce((sum, one) => sum + one, 0)) }
}

export const summary = (series: readonly Series[]): string => series.map(({ label, total }) => `${label} ${total}`).join(', ')

const traces = (query: Readonly<Record<string, string>> = {}): Explore => ({
  ...{ to: '/traces', query, says: texts().showTraces, times: ['since', 'until'] },
})

const captured = ['captured_sandbox_destination', 'captured_no_route', 'captured_anonymous_project'] as const

export function SendsPlot({ span, isShown = false, height }: PlotOf): JSX.Element {
  const w = texts()
  return (
    <WithInsight route="/v1/insights/sends" span={span} isShown={isShown}>
      {({ now, before }) => {
        const series = counted(now, [
          ['relayed', w.relayed, 'relayed', 'bar', { outcome: 'relayed' }],
          ['captured_sandbox_destination', w.capturedSandbox, 'hatched', 'bar', { outcome: 'captured.sandbox_destination' }],
          ['captured_no_route', w.capturedNoRoute, 'dotted', 'bar', { outcome: 'captured.no_route' }],
          ['captured_anonymous_project', w.capturedAnonymous, 'solid', 'bar', { outcome: 'captured.anonymous_project' }],
          ['refused', w.refused, 'striped', 'bar', { outcome: 'refused' }],
          ['failed', w.failed, 'bad', 'diamond', { status: 'failed' }],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['relayed', ...captured, 'refused']),
        }
        return (
          <Plot
            {...{
              data,
              name: 'sends',
              title: w.sendsPlot,
              note: w.perStepByOutcome({ step: stepName(span.stepMs) }),
              summary: summary(series),
              explore: traces(),
            }}
            {...(height !== undefined && { height })}
          />
        )
      }}
    </WithInsight>
  )
}

const percentOf = (value: number): string => percent(value / 100, value > 0 && value < 10 ? (value < 1 ? 2 : 1) : 0)

/** Returns the share of recipients that a provider accepted or rejected. */
function shareOf(totals: Ended, fate: Fate): string {
  const all = endedOf(totals)
  return rate(totals[fate], all, totals[fate] === 0 ? 0 : totals[fate] / all < 0.01 ? 2 : 1)
}

type Fate = 'bounced' | 'complained'

function rates({ now, before }: Compared<DeliveryInsight>, fate: Fate, label: string, span: TimeSpan): PlotData {
  const series: Series = {
    ...{ label, look: 'line', kind: 'line', total: shareOf(now.totals, fate) },
    values: ratesOf(now.points, fate),
  }
  const { warn, bad } = rateLimits[fate]
  return {
    ...{ times: timesOf(now.points), stepMs: span.stepMs, series: [series], format: percentOf, atLeast: bad * 1.1 },
    before: before && {
      values: ratesOf(before.points, fate),
      label: texts().periodBefore,
      total: shareOf(before.totals, fate),
    },
    limits: [
      { value: warn, label: `${decimal(warn, 0, 1)} %`, look: 'warnLimit' },
      { value: bad, label: `${decimal(bad, 0, 1)} %`, look: 'badLimit' },
    ],
  }
}

/** The axis of a plot without limits ends at twice the largest value, at least at 4 %. */
const briefTop = ({ series }: PlotData): number => Math.max(4, ...series.flatMap(({ values }) => values.map((value) => 2 * (value ?? 0))))

function RatePlot({ span, fate, height, isBrief = false }: PlotOf & { readonly fate: Fate }): JSX.Element {
  const w = texts()
  const title = fate === 'bounced' ? w.bounceRate : w.complaintRate
  return (
    <WithInsight route="/v1/insights/delivery" span={span}>
      {(read) => {
        const whole = rates(read, fate, title, span)
        const data = isBrief ? { ...whole, limits: [], atLeast: briefTop(whole) } : whole
        const note = isBrief ? w.byTimeOfSending : w.ofHandedOver
        return (
          <Plot
            {...{ data, title, note, name: fate, summary: summary(data.series), explore: traces({ status: fate }) }}
            {...(height !== undefined && { height })}
            {...(isBrief && { instead: '' })}
          />
        )
      }}
    </WithInsight>
  )
}

export const BounceRatePlot = (props: PlotOf): JSX.Element => <RatePlot {...props} fate="bounced" />
export const ComplaintRatePlot = (props: PlotOf): JSX.Element => <RatePlot {...props} fate="complained" />

export function DeliveryPlot({ span }: PlotOf): JSX.Element {
  const w = texts()
  return (
    <WithInsight route="/v1/insights/delivery" span={span}>
      {({ now, before }) => {
        const series = counted(now, [
          ['taken', w.takenByProvider, 'relayed', 'bar'],
          ['failed', w.failed, 'striped', 'bar', { status: 'failed' }],
          ['delivered', w.deliveredReported, 'dashed', 'line', { status: 'delivered' }],
          ['bounced', w.bounced, 'bad', 'diamond', { status: 'bounced' }],
          ['complained', plotTexts().complained, 'bad', 'flag', { status: 'complained' }],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['taken', 'failed']),
        }
        return (
          <Plot
            {...{
              data,
              name: 'delivery',
              title: w.deliveryPlot,
              note: w.recipientsPer({ step: stepName(span.stepMs) }),
              summary: summary(series),
            }}
            explore={traces({ outcome: 'relayed' })}
          />
        )
      }}
    </WithInsight>
  )
}

const timings = ['delivery', 'first_attempt', 'attempt'] as const
const tookOf = (milliseconds: number | null): string => (milliseconds === null ? '–' : duration(milliseconds))
type Timing = (typeof timings)[number]

export function LatencyPlot({ span, height }: PlotOf): JSX.Element {
  const w = texts()
  const [timing, setTiming] = useState<Timing>('delivery')
  const labels: Readonly<Record<Timing, string>> = {
    delivery: w.timingDelivery,
    first_attempt: w.timingFirstAttempt,
    attempt: w.timingAttempt,
  }
  return (
    <div class="plot-box">
      <WithInsight route="/v1/insights/latency" span={span}>
        {({ now, before }) => {
          const parts = [
            ['p50_ms', 'p50', 'line'],
            ['p95_ms', 'p95', 'dashed'],
            ['p99_ms', 'p99', 'dots'],
          ] as const
          const series = parts.map(([field, label, look]): Series => {
            const total = tookOf(now.totals[timing][field])
            return { ...{ label, look, kind: 'line', total }, values: now.points.map((point) => point[timing][field]) }
          })
          const data = {
            ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: duration },
            before: before && {
              values: before.points.map((point) => point[timing].p95_ms),
              label: plotTexts().before({ label: 'p95' }),
              total: tookOf(before.totals[timing].p95_ms),
            },
          }
          return (
            <Plot
              {...{ data, name: `latency-${timing}`, title: w.latencyPlot, note: labels[timing], summary: summary(series) }}
              explore={traces({ outcome: 'relayed' })}
              {...(height !== undefined && { height })}
            />
          )
        }}
      </WithInsight>
      <div class="plot-choice">
        <Segments
          label={w.latencyPlot}
          value={timing}
          onChoose={setTiming}
          choices={timings.map((value) => ({ value, label: labels[value] }))}
        />
      </div>
    </div>
  )
}
