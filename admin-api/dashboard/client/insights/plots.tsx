/** Each plot: what it reads, and what it makes of that. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Segments } from '../parts/controls.tsx'
import { decimal, number, percent, span as duration } from '../parts/time.ts'
import {
  getDeliveryInsight,
  getLatencyInsight,
  getSendInsight,
  getSmtpInsight,
  getSuppressionInsight,
  getWebhookInsight,
  type DeliveryInsight,
} from '../wire/operations.ts'
import { rateLimits } from '../health/limits.ts'
import { words } from '../words/words.ts'
import type { LookName, PlotData, Series } from './drawing.ts'
import { Plot } from './plot.tsx'
import { WithInsight, type Compared } from './reading.tsx'
import { stepName, type TimeSpan } from './time-range.ts'

export interface PlotOf {
  readonly span: TimeSpan
  readonly isShown?: boolean
  readonly height?: number
}

type Point = Readonly<Record<string, unknown>> & { readonly at: string }
interface Figures<P extends Point> {
  readonly points: readonly P[]
  readonly totals: Omit<P, 'at'>
}

const timesOf = (points: readonly Point[]): readonly number[] => points.map(({ at }) => Date.parse(at))

/** A series for each of the counts, in their order. */
function counted<P extends Point>(
  { points, totals }: Figures<P>,
  fields: readonly (readonly [field: keyof P & string, label: string, look: LookName, kind: Series['kind']])[],
): readonly Series[] {
  return fields.map(([field, label, look, kind]) => ({
    ...{ label, look, kind },
    values: points.map((point) => point[field] as number),
    total: number((totals as Readonly<Record<string, number>>)[field] ?? 0),
  }))
}

/** The sum of the counts of the time before. */
const sumsBefore = <P extends Point>(
  before: Figures<P> | undefined,
  fields: readonly (keyof P & string)[],
): readonly number[] | undefined => before?.points.map((point) => fields.reduce((sum, field) => sum + (point[field] as number), 0))

const summary = (series: readonly Series[]): string => series.map(({ label, total }) => `${label} ${total}`).join(', ')

const captured = ['captured_sandbox_destination', 'captured_no_route', 'captured_anonymous_project'] as const

export function SendsPlot({ span, isShown = false, height }: PlotOf): JSX.Element {
  const w = words()
  return (
    <WithInsight operation={getSendInsight} span={span} isShown={isShown}>
      {({ now, before }) => {
        const series = counted(now, [
          ['relayed', w.relayed, 'relayed', 'bar'],
          ['captured_sandbox_destination', w.capturedSandbox, 'hatched', 'bar'],
          ['captured_no_route', w.capturedNoRoute, 'dotted', 'bar'],
          ['captured_anonymous_project', w.capturedAnonymous, 'solid', 'bar'],
          ['refused', w.refused, 'striped', 'bar'],
          ['failed', w.failed, 'bad', 'diamond'],
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
              note: w.perStepByOutcome(stepName(span.stepMs)),
              summary: summary(series),
              explore: {},
            }}
            {...(height !== undefined && { height })}
          />
        )
      }}
    </WithInsight>
  )
}

const percentOf = (value: number): string => percent(value / 100, value > 0 && value < 10 ? (value < 1 ? 2 : 1) : 0)

/** Of recipients that a provider took or refused; null where there were none. */
const rateOf = ({ taken, failed }: { readonly taken: number; readonly failed: number }, part: number): number | null =>
  taken + failed === 0 ? null : (100 * part) / (taken + failed)

type Fate = 'bounced' | 'complained'

function rates({ now, before }: Compared<DeliveryInsight>, fate: Fate, label: string, span: TimeSpan): PlotData {
  const total = rateOf(now.totals, now.totals[fate])
  const series: Series = {
    ...{ label, look: 'line', kind: 'line', total: total === null ? '–' : percentOf(total) },
    values: now.points.map((point) => rateOf(point, point[fate])),
  }
  const { warn, bad } = rateLimits[fate]
  return {
    ...{ times: timesOf(now.points), stepMs: span.stepMs, series: [series], format: percentOf, atLeast: bad * 1.1 },
    before: before?.points.map((point) => rateOf(point, point[fate])),
    limits: [
      { value: warn, label: `${decimal(warn, 0, 1)} %`, look: 'warnLimit' },
      { value: bad, label: `${decimal(bad, 0, 1)} %`, look: 'badLimit' },
    ],
  }
}

function RatePlot({ span, fate, height }: PlotOf & { readonly fate: Fate }): JSX.Element {
  const w = words()
  const title = fate === 'bounced' ? w.bounceRate : w.complaintRate
  return (
    <WithInsight operation={getDeliveryInsight} span={span}>
      {(read) => {
        const data = rates(read, fate, title, span)
        return (
          <Plot
            {...{ data, title, name: fate, note: w.ofHandedOver, summary: summary(data.series), explore: { status: fate } }}
            {...(height !== undefined && { height })}
          />
        )
      }}
    </WithInsight>
  )
}

export const BounceRatePlot = (props: PlotOf): JSX.Element => <RatePlot {...props} fate="bounced" />
export const ComplaintRatePlot = (props: PlotOf): JSX.Element => <RatePlot {...props} fate="complained" />

export function DeliveryPlot({ span }: PlotOf): JSX.Element {
  const w = words()
  return (
    <WithInsight operation={getDeliveryInsight} span={span}>
      {({ now, before }) => {
        const series = counted(now, [
          ['taken', w.takenByProvider, 'relayed', 'bar'],
          ['failed', w.failed, 'striped', 'bar'],
          ['delivered', w.deliveredReported, 'dashed', 'line'],
          ['bounced', w.bounced, 'bad', 'diamond'],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['taken', 'failed']),
        }
        return (
          <Plot
            {...{ data, name: 'delivery', title: w.deliveryPlot, note: w.recipientsPer(stepName(span.stepMs)), summary: summary(series) }}
          />
        )
      }}
    </WithInsight>
  )
}

const timings = ['delivery', 'first_attempt', 'attempt'] as const
type Timing = (typeof timings)[number]

export function LatencyPlot({ span, height }: PlotOf): JSX.Element {
  const w = words()
  const [timing, setTiming] = useState<Timing>('delivery')
  const labels: Readonly<Record<Timing, string>> = {
    delivery: w.timingDelivery,
    first_attempt: w.timingFirstAttempt,
    attempt: w.timingAttempt,
  }
  return (
    <div class="plot-box">
      <WithInsight operation={getLatencyInsight} span={span}>
        {({ now, before }) => {
          const parts = [
            ['p50_ms', 'p50', 'line'],
            ['p95_ms', 'p95', 'dashed'],
            ['p99_ms', 'p99', 'dots'],
          ] as const
          const series = parts.map(([field, label, look]): Series => {
            const total = now.totals[timing][field]
            return {
              ...{ label, look, kind: 'line', total: total === null ? '–' : duration(total) },
              values: now.points.map((point) => point[timing][field]),
            }
          })
          const data = {
            ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: duration },
            before: before?.points.map((point) => point[timing].p95_ms),
          }
          return (
            <Plot
              {...{ data, name: 'latency', title: w.latencyPlot, note: labels[timing], summary: summary(series) }}
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

export function WebhookPlot({ span }: PlotOf): JSX.Element {
  const w = words()
  return (
    <WithInsight operation={getWebhookInsight} span={span}>
      {({ now, before }) => {
        const series = counted(now, [
          ['succeeded', w.succeeded, 'relayed', 'bar'],
          ['failed', w.failedAttempts, 'striped', 'bar'],
          ['parked', w.parked, 'bad', 'diamond'],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['succeeded', 'failed']),
        }
        return (
          <Plot
            {...{ data, name: 'webhooks', title: w.webhookPlot, note: w.attemptsPer(stepName(span.stepMs)), summary: summary(series) }}
          />
        )
      }}
    </WithInsight>
  )
}

export function SuppressionPlot({ span }: PlotOf): JSX.Element {
  const w = words()
  return (
    <WithInsight operation={getSuppressionInsight} span={span}>
      {({ now, before }) => {
        const series = counted(now as Figures<Point>, [
          ['bounce', w.sourceBounce, 'striped', 'bar'],
          ['complaint', w.sourceComplaint, 'bad', 'bar'],
          ['unsubscribe', w.sourceUnsubscribe, 'hatched', 'bar'],
          ['import', w.sourceImport, 'dotted', 'bar'],
          ['manual', w.sourceManual, 'plain', 'bar'],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before as Figures<Point> | undefined, ['bounce', 'complaint', 'unsubscribe', 'import', 'manual']),
        }
        return (
          <Plot
            {...{ data, name: 'suppressions', title: w.suppressionPlot, note: w.newPer(stepName(span.stepMs)), summary: summary(series) }}
          />
        )
      }}
    </WithInsight>
  )
}

export function SmtpPlot({ span }: PlotOf): JSX.Element {
  const w = words()
  return (
    <WithInsight operation={getSmtpInsight} span={span}>
      {({ now, before }) => {
        const series = counted(now, [
          ['logins', w.smtpSessions, 'relayed', 'bar'],
          ['refused_logins', w.refusedLogins, 'hatched', 'bar'],
          ['refused', w.refusedCommands, 'striped', 'bar'],
        ])
        const data = {
          ...{ times: timesOf(now.points), stepMs: span.stepMs, series, format: number },
          before: sumsBefore(before, ['logins', 'refused_logins', 'refused']),
        }
        return (
          <div class="plot-box">
            <Plot {...{ data, name: 'smtp', title: w.smtpPlot, note: w.perStep(stepName(span.stepMs)), summary: summary(series) }} />
            <Reasons codes={now.totals.refused_by_code} />
          </div>
        )
      }}
    </WithInsight>
  )
}

/** Why commands were refused, the most frequent first. */
function Reasons({ codes }: { readonly codes: Readonly<Record<string, number>> }): JSX.Element | null {
  const all = Object.entries(codes).toSorted(([, a], [, b]) => b - a)
  if (all.length === 0) return null
  return (
    <ul class="plot-reasons">
      {all.map(([code, times]) => (
        <li key={code}>
          <code>{code}</code> <b>{number(times)}</b>
        </li>
      ))}
    </ul>
  )
}
