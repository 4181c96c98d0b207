/** Plots of the overview, loaded after its first content. */
import type { JSX } from 'preact'
import { mostFigures } from '../app/query.ts'
import { link } from '../app/location.ts'
import type { Destination } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { HealthStrip, lastDay, stripText } from '../health/health-strip.tsx'
import type { Healths } from '../health/destination-healths.tsx'
import { WithEvents } from '../plots/events.tsx'
import { BounceRatePlot, LatencyPlot, SendsPlot } from './plots.tsx'
import { RangeBar } from './range-bar.tsx'
import { useInsight, useSpan } from './reading.tsx'

export function MainPlots(of: { readonly destinations: readonly Destination[]; readonly healths: Healths }): JSX.Element {
  const { span } = useSpan()
  return (
    <WithEvents span={span} {...of}>
      <div class="range-head">
        <RangeBar />
        <a href={link('/insights')}>{texts().moreInsights}</a>
      </div>
      <SendsPlot span={span} height={200} />
    </WithEvents>
  )
}

export function SidePlots(): JSX.Element {
  const { span } = useSpan()
  return (
    <>
      <BounceRatePlot span={span} height={110} />
      <LatencyPlot span={span} height={110} />
    </>
  )
}

/** Renders the last day of a destination. */
export type StripOf = (destination: Destination) => JSX.Element

export function WithStrips({ children }: { readonly children: (stripOf: StripOf) => JSX.Element }): JSX.Element {
  const { now } = useSpan()
  const read = useInsight('/v1/insights/destinations', lastDay(now), { first: mostFigures })
  const health = (id: string) => read.data?.data.find((one) => one.destination_id === id)
  return children(({ id, name }) => <HealthStrip health={health(id)} label={stripText(name, health(id)?.totals)} />)
}
