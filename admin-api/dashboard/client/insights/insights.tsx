/** Screen with all plots. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from '../texts/texts.ts'
import { projectId } from '../app/location.ts'
import { ByDestination, ByDomain } from './breakdowns.tsx'
import { BounceRatePlot, ComplaintRatePlot, DeliveryPlot, LatencyPlot, SendsPlot } from './plots.tsx'
import { SmtpPlot, SuppressionPlot, WebhookPlot } from '../plots/beside-mail.tsx'
import { AllForms } from '../plots/form-funnel.tsx'
import { Changes, WithEvents } from '../plots/events.tsx'
import { useHealths } from '../health/destination-health.ts'
import { RangeBar } from './range-bar.tsx'
import { useSpan } from './reading.tsx'
import { Strips } from '../health/strips.tsx'

export default function Insights(): JSX.Element {
  const w = texts()
  const { span, now } = useSpan()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const destinations = useAll('/v1/destinations', { query: project }).read.data ?? []
  const healths = useHealths()
  const own = { span, destinations, healths }
  return (
    <>
      <TopBar title={w.insights} isLive />
      <div class="sheet">
        <div class="range-head">
          <RangeBar />
        </div>
        <WithEvents {...own}>
          <SendsPlot span={span} isShown height={220} />
          <div class="plots">
            <DeliveryPlot span={span} />
            <LatencyPlot span={span} />
            <BounceRatePlot span={span} />
            <ComplaintRatePlot span={span} />
          </div>
          <Changes span={span} />
        </WithEvents>
        <div class="plots">
          <Strips {...{ now, destinations, healths }} />
          <WebhookPlot span={span} />
          <SuppressionPlot span={span} />
          <SmtpPlot span={span} />
          <AllForms now={now} />
          <ByDestination span={span} destinations={destinations} />
          <ByDomain span={span} />
        </div>
      </div>
    </>
  )
}
