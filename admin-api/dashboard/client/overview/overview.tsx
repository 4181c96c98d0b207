/** Start screen: a sentence about mail, findings, figures of the day, destinations and latest traces. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, projects } from '../app/projects.ts'
import { firstOf, useRead } from '../app/query.ts'
import { Gauge } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Show } from '../parts/states.tsx'
import { month, number, percent } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { TraceRows } from '../traces/trace-rows.tsx'
import type { DeliveryInsight, Destination, DestinationInsight, Finding, QueueCounts, TraceSummary, Usage } from '../wire/api.d.ts'
import { withTexts } from '../texts/catalog.ts'
import { texts } from '../texts/texts.ts'
import { DestinationHealths, useHealths, type Healths } from '../health/destination-healths.tsx'
import { byDestination, type Troubles } from '../findings/finding-order.ts'
import { percentFrom, rateLimits } from '#config/watch/limits.ts'
import { Checklist, FirstRun } from './first-run.tsx'
import { useHadMail } from './first-mail.ts'
import { SendTest } from './send-test.tsx'
import { stepSeconds, type Situation } from './sentence.ts'
import { Verdict } from './verdict.tsx'

const refreshMs = 15_000
/** The service counts the queue entry by entry, so this interval is longer than that of the counters. */
const queueRefreshMs = 60_000
const tracesShown = 10

type Plots = typeof import('../insights/overview-plots.tsx')
let loadedPlots: Plots | undefined

/** Loads the plots after the first content. */
function usePlots(): Plots | undefined {
  const [plots, setPlots] = useState(loadedPlots)
  useEffect(() => {
    withTexts(import('../insights/overview-plots.tsx')).then(
      (loaded) => setPlots((loadedPlots = loaded)),
      () => undefined, // other parts of the screen report the unreachable service
    )
  }, [])
  return plots
}

export default function Overview(): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const traces = useRead('/v1/traces', firstOf(tracesShown, { query: project }), { isShown: true, every: refreshMs })
  const destinations = useAll('/v1/destinations', { query: project })
  const usage = useRead('/v1/usage', {}, { every: refreshMs })
  const steps = { query: { ...project, step_seconds: stepSeconds } }
  const day = useRead('/v1/insights/delivery', steps, { every: refreshMs })
  const sends = useRead('/v1/insights/sends', steps, { every: refreshMs })
  const queue = useRead('/v1/queue/counts', { query: project }, { every: queueRefreshMs })
  const findings = useAll('/v1/findings', { query: { ...project, state: 'open' } }, { every: refreshMs }).read.data
  const week = useWeek(findings?.some(({ kind }) => kind === 'destination.resting') === true)
  const healths = useHealths()
  const troubles = byDestination(findings ?? [])
  const [isSending, setSending] = useState(false)
  const isLive = destinations.read.data?.some(({ mode }) => mode === 'live')
  const hadMail = useHadMail(isLive === true, traces.data?.data, day.data)
  const onSend = (): void => setSending(true)
  return (
    <>
      <TopBar title={w.overview} isLive={traces.state !== 'failed'}>
        {mayChange.value && (
          <button class="button" onClick={onSend} title={w.sendTest}>
            <Icon name="destinations" />
            <span class="shell-label">{w.sendTest}</span>
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={destinations.read} reload={destinations.reload} failure={w.overviewFailed}>
          {(list) => (
            <Show read={traces} reload={traces.reload} failure={w.overviewFailed}>
              {({ data }) =>
                isLive === false ? (
                  <FirstRun destinations={list} traces={data} onSend={onSend} />
                ) : (
                  <Settled
                    {...{ hadMail, onSend, traces: data, destinations: list, areAll: destinations.isComplete, healths, troubles }}
                    {...{ findings, usage: usage.data, day: day.data, queue: queue.data }}
                    situation={
                      findings && day.data && sends.data && week !== 'loading'
                        ? { findings, destinations: list, week, day: day.data, sends: sends.data, isFirst: !hadMail }
                        : undefined
                    }
                  />
                )
              }
            </Show>
          )}
        </Show>
      </div>
      {isSending && <SendTest onClose={() => setSending(false)} />}
    </>
  )
}

const weekMs = 7 * 86_400_000

/** Reads the figures of the last week by destination if they are asked for. They tell which destinations are in use. */
function useWeek(isAsked: boolean): DestinationInsight | undefined | 'loading' {
  const [from] = useState(() => new Date(Date.now() - weekMs).toISOString())
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const read = useRead('/v1/insights/destinations', isAsked ? { query: { ...project, from, step_seconds: 86_400 } } : undefined)
  return isAsked && read.state === 'loading' ? 'loading' : read.data
}

interface SettledProps {
  /** Whether a provider has ever accepted a message. */
  readonly hadMail: boolean
  readonly onSend: () => void
  readonly traces: readonly TraceSummary[]
  readonly destinations: readonly Destination[]
  readonly areAll: boolean
  readonly healths: Healths
  readonly troubles: Troubles
  readonly findings: readonly Finding[] | undefined
  /** Undefined until all figures are loaded. */
  readonly situation: Situation | undefined
  readonly usage: Usage | undefined
  readonly day: DeliveryInsight | undefined
  readonly queue: QueueCounts | undefined
}

function Settled({
  hadMail,
  onSend,
  traces,
  destinations,
  areAll,
  healths,
  troubles,
  findings,
  situation,
  usage,
  day,
  queue,
}: SettledProps): JSX.Element {
  const w = texts()
  const plots = usePlots()
  return (
    <>
      <Verdict key={projectId.value ?? ''} {...{ situation, findings, queue }} />
      {!hadMail && <Checklist destinations={destinations} traces={traces} onSend={onSend} />}
      <Ledger day={day} usage={usage} />
      <div class="columns">
        <section aria-labelledby="latest">
          <div class="plot-room">{plots && <plots.MainPlots destinations={destinations} healths={healths} />}</div>
          <div class="head">
            <h2 id="latest">{w.latestTraces}</h2>
            <a href={link('/traces')}>{w.exploreAll}</a>
          </div>
          <TraceRows traces={traces} destinations={destinations} isShort />
        </section>
        <aside aria-label={w.destinations}>
          {plots ? (
            <plots.WithStrips>
              {(stripOf) => <DestinationHealths {...{ destinations, areAll, healths, troubles, stripOf }} />}
            </plots.WithStrips>
          ) : (
            <DestinationHealths {...{ destinations, areAll, healths, troubles }} />
          )}
          {plots && <plots.SidePlots />}
        </aside>
      </div>
    </>
  )
}

interface Figure {
  readonly label: string
  readonly value: string
  readonly unit?: string
  readonly gauge?: { readonly used: number; readonly limit: number } | undefined
}

function Ledger({ day, usage }: { readonly day: DeliveryInsight | undefined; readonly usage: Usage | undefined }): JSX.Element {
  const w = texts()
  const home = homeProject()
  const counted = projectId.value === undefined ? projects.value : projects.value.filter(({ id }) => id === projectId.value)
  const sent = counted.reduce((sum, { project_sends_today: sends }) => sum + sends, 0)
  const captured = counted.reduce((sum, { captures_this_month: captures }) => sum + captures, 0)
  const limit = usage?.limits.find(({ name }) => name === 'sends_today')?.limit ?? null
  const figures: Figure[] = [
    limited(w.sendsToday, sent, projectId.value === undefined ? limit : null),
    ...(day ? shares(day) : []),
    limited(w.capturesIn({ month: month() }), captured, counted.length === 1 ? (home?.monthly_capture_cap ?? null) : null),
    ...(projectId.value !== undefined && home && home.send_budget !== null
      ? [limited(w.sendBudget, home.project_sends_today, home.send_budget)]
      : []),
  ]
  return (
    <dl class="ledger">
      {figures.map(({ label, value, unit, gauge }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <b>{value}</b> <span>{unit}</span>
            {gauge && <Gauge {...gauge} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const limited = (label: string, used: number, limit: number | null): Figure => ({
  label,
  value: number(used),
  unit: limit === null ? texts().withoutLimit : texts().of({ limit: number(limit) }),
  gauge: limit === null ? undefined : { used, limit },
})

/** Returns shares of the recipients of the last day. The limits are those of mailbox providers. */
function shares({ totals: { taken, failed, bounced, complained } }: DeliveryInsight): readonly Figure[] {
  const w = texts()
  const all = taken + failed
  const unit = w.ofRecipients({ count: number(all) })
  // a percentage of few recipients says little
  const isFew = all > 0 && all < percentFrom
  const share = (part: number): string =>
    all === 0 ? '–' : isFew ? number(part) : percent(part / all, part === 0 || part === all ? 0 : part / all < 0.01 ? 2 : 1)
  const limitedTo = (part: number, limit: number, text: string): Pick<Figure, 'unit' | 'gauge'> =>
    isFew ? { unit } : { unit: text, gauge: { used: all === 0 ? 0 : (100 * part) / all, limit } }
  return [
    { label: w.takenShare, value: share(taken), unit },
    { label: w.bounceRate, value: share(bounced), ...limitedTo(bounced, rateLimits.bounced.warn, w.bounceLimit) },
    { label: w.complaintRate, value: share(complained), ...limitedTo(complained, rateLimits.complained.warn, w.complaintLimit) },
  ]
}
