/** Plots of the overview, loaded after its first content. Insights has their tools, tables and other series. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { decimal, number, span as duration } from '../parts/time.ts'
import type { Destination, SendInsight } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { Healths } from '../health/destination-health.ts'
import { WithEvents } from '../plots/events.tsx'
import { texts as plotTexts } from '../plots/plots-texts.ts'
import type { Series } from './drawing.ts'
import { BounceRatePlot, counted, summary, timesOf } from './plots.tsx'
import { Plot } from './plot.tsx'
import { useSpan, WithInsight } from './reading.tsx'
import { stepName } from './time-range.ts'

const sideHeight = 112

export function MainPlot(of: { readonly destinations: readonly Destination[]; readonly healths: Healths }): JSX.Element {
  const [w, own] = [texts(), plotTexts()]
  const { span } = useSpan()
  return (
    <WithEvents span={span} {...of}>
      <WithInsight route="/v1/insights/sends" span={span}>
        {({ now }) => {
          const { points, totals } = withCaptured(now)
          const series = counted({ points, totals }, [
            ['relayed', w.relayed, 'relayed', 'bar', { outcome: 'relayed' }],
            ['captured', own.captured, 'solid', 'bar', { status: 'captured' }],
            ...(totals.refused > 0 ? ([['refused', w.refused, 'striped', 'bar', { outcome: 'refused' }]] as const) : []),
            ['failed', w.failed, 'bad', 'diamond', { status: 'failed' }],
          ])
          const data = { times: timesOf(points), stepMs: span.stepMs, series, format: number }
          return (
            <Plot
              {...{ data, name: 'sends', title: w.messagesPlot, note: w.perStepByOutcome({ step: stepName(span.stepMs) }) }}
              summary={summary(series)}
              explore={{ to: '/traces', says: w.showTraces, times: ['since', 'until'] }}
              height={196}
              instead={<a href={link('/insights')}>{w.openInsights}</a>}
            />
          )
        }}
      </WithInsight>
    </WithEvents>
  )
}

/** Adds the captured messages of all reasons. */
function withCaptured({ points, totals }: SendInsight) {
  const of = <P extends Omit<SendInsight['points'][number], 'at'>>(one: P): P & { readonly captured: number } => ({
    ...one,
    captured: one.captured_sandbox_destination + one.captured_no_route + one.captured_anonymous_project,
  })
  return { points: points.map((point) => of(point)), totals: of(totals) }
}

export function SidePlots(): JSX.Element {
  const { span } = useSpan()
  return (
    <>
      <div class="plot-room">
        <BounceRatePlot span={span} height={sideHeight} isBrief />
      </div>
      <div class="plot-room">
        <AcceptancePlot />
      </div>
    </>
  )
}

/** Time from acceptance here to acceptance by the provider. */
function AcceptancePlot(): JSX.Element {
  const [w, own] = [texts(), plotTexts()]
  const { span } = useSpan()
  return (
    <WithInsight route="/v1/insights/latency" span={span}>
      {({ now: { points, totals } }) => {
        const lines = [
          ['p50_ms', w.halfWithin, 'line'],
          ['p95_ms', w.mostWithin({ share: `${decimal(95, 0)}\u00a0%` }), 'dashed'],
        ] as const
        const series = lines.map(([field, label, look]): Series => {
          const total = totals.delivery[field]
          return {
            ...{ label, look, kind: 'line', total: total === null ? '–' : duration(total) },
            values: points.map(({ delivery }) => delivery[field]),
          }
        })
        const data = { times: timesOf(points), stepMs: span.stepMs, series, format: duration }
        return (
          <Plot
            {...{ data, name: 'latency', title: own.toAcceptance, note: '', summary: summary(series) }}
            height={sideHeight}
            instead=""
          />
        )
      }}
    </WithInsight>
  )
}
