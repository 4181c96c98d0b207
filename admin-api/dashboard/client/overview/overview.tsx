/** Start screen: a sentence about mail, findings, figures, plots, latest mail and destinations. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lastWeek } from '../../kept-figures.ts'
import { useAll } from '../app/all.ts'
import { firstAnswer } from '../app/api.ts'
import { later } from '../app/later.tsx'
import { boot } from '../app/boot.ts'
import { link, projectId } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { firstOf, useRead, type Reading } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { Show } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { TraceRows } from '../traces/trace-rows.tsx'
import type { Destination, DestinationInsight, Finding, TraceSummary } from '../wire/api.d.ts'
import type { Page } from '../wire/route.ts'
import { withTexts } from '../texts/catalog.ts'
import { texts } from '../texts/texts.ts'
import { useHealths } from '../health/destination-health.ts'
import { byDestination } from '../findings/finding-order.ts'
import { RangeChoice } from '../insights/range-bar.tsx'
import { DestinationList } from './destination-list.tsx'
import { Figures } from './figures.tsx'
import { useHadMail } from './first-mail.ts'
import { stepSeconds } from './sentence.ts'
import { SendTest } from './test-dialog.ts'
import { loadRows, Verdict } from './verdict.tsx'

const refreshMs = 15_000
const doctorRefreshMs = 60_000
/** The service counts the queue entry by entry, so this interval is longer than that of the counters. */
const queueRefreshMs = 60_000
const tracesShown = 8

// the first paint has the rows, so the screen waits for their code
const given = firstAnswer<Page<Finding>>('/v1/findings', { query: { ...ofProject(), state: 'open' } })
if (given && given.data.length > 0) await loadRows().catch(() => undefined)

function ofProject(): { readonly project?: string } {
  return projectId.value === undefined ? {} : { project: projectId.value }
}

const FirstRun = later(() => import('./first-run.tsx'))

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
  const project = ofProject()
  const traces = useRead('/v1/traces', firstOf(tracesShown, { query: project }), { isShown: true, every: refreshMs })
  const destinations = useAll('/v1/destinations', { query: project })
  const [isSending, setSending] = useState(false)
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
      <div class="sheet overview">
        {destinations.read.state === 'failed' && !destinations.read.data ? (
          <Show read={destinations.read} reload={destinations.reload} failure={w.overviewFailed}>
            {() => null}
          </Show>
        ) : (
          <OfProject
            key={projectId.value ?? ''}
            {...{ traces, onSend, destinations: destinations.read.data, areAll: destinations.isComplete }}
          />
        )}
      </div>
      {isSending && <SendTest onClose={() => setSending(false)} />}
    </>
  )
}

interface ScreenProps {
  readonly traces: Reading<Page<TraceSummary>>
  /** Undefined until they are loaded. */
  readonly destinations: readonly Destination[] | undefined
  /** Whether the list of destinations is complete. */
  readonly areAll: boolean
  readonly onSend: () => void
}

/** The sentence, and below it either the first run or the state of the mail. */
function OfProject({ traces, destinations, areAll, onSend }: ScreenProps): JSX.Element {
  const project = ofProject()
  const steps = { query: { ...project, step_seconds: stepSeconds } }
  const day = useRead('/v1/insights/delivery', steps, { every: refreshMs })
  const sends = useRead('/v1/insights/sends', steps, { every: refreshMs })
  const account = useRead('/v1/projects/me', {}, { every: refreshMs })
  const queue = useRead('/v1/queue/counts', { query: project }, { every: queueRefreshMs })
  const findings = useAll('/v1/findings', { query: { ...project, state: 'open' } }, { every: refreshMs })
  const open = findings.read.data
  const report = useRead('/operator/v1/doctor', boot.isOperator ? {} : undefined, { every: doctorRefreshMs })
  const week = useWeek(open?.some(({ kind }) => kind === 'destination.resting') === true)
  const hadMail = useHadMail(day)
  const failed = [findings.read, day, sends].find(({ state, data }) => state === 'failed' && data === undefined)
  const isKnown = destinations && open && day.data && sends.data && hadMail !== undefined && week !== 'loading'
  const isLive = destinations?.some(({ mode }) => mode === 'live')
  const onRetry = (): void => [findings, day, sends].forEach(({ reload }) => reload())
  // mail of a check does not end the first run, which lasts until a destination is live
  const isFirst = hadMail === false || isLive === false
  const mail = (
    <>
      <Figures {...{ day, sends, account }} />
      <Mail {...{ traces, destinations, areAll, open }} />
    </>
  )
  return (
    <>
      <Verdict
        situation={
          isKnown ? { findings: open, destinations, week, day: day.data, sends: sends.data, isFirst: hadMail === false } : undefined
        }
        findings={open}
        areAll={findings.read.state !== 'loading'}
        report={report.data}
        queue={queue.data}
        fault={failed?.state === 'failed' ? failed.fault : undefined}
        onRetry={onRetry}
        end={!isFirst && <RangeChoice />}
      >
        {isFirst && destinations ? (
          <FirstRun {...{ destinations, onSend, traces: traces.data?.data ?? [] }}>{isLive && mail}</FirstRun>
        ) : (
          mail
        )}
      </Verdict>
    </>
  )
}

/** Reads the figures of the last week by destination. They show the destinations in use. */
function useWeek(isAsked: boolean): DestinationInsight | undefined | 'loading' {
  const [query] = useState(() => lastWeek(Date.now()))
  const read = useRead('/v1/insights/destinations', isAsked ? { query: { ...ofProject(), ...query } } : undefined)
  return isAsked && read.state === 'loading' ? 'loading' : read.data
}

interface MailProps extends Omit<ScreenProps, 'onSend'> {
  readonly open: readonly Finding[] | undefined
}

function Mail({ traces, destinations, areAll, open }: MailProps): JSX.Element {
  const w = texts()
  const plots = usePlots()
  const healths = useHealths()
  const known = destinations ?? []
  return (
    <div class="columns">
      <div>
        <div class="plot-room">{plots && <plots.MainPlot destinations={known} healths={healths} />}</div>
        <section aria-labelledby="latest">
          <div class="head">
            <h2 id="latest">{w.latestMail}</h2>
            <a href={link('/traces')}>{w.allTraces}</a>
          </div>
          <Show read={traces} reload={traces.reload} failure={w.latestFailed} rows={tracesShown}>
            {({ data }) =>
              data.length > 0 ? <TraceRows traces={data} destinations={known} isShort /> : <p class="no-rows faint">{w.noLatestMail}</p>
            }
          </Show>
        </section>
      </div>
      <aside aria-label={w.destinations}>
        <DestinationList {...{ destinations, areAll, troubles: byDestination(open ?? []) }} />
        <div class="side-plots">{plots && <plots.SidePlots />}</div>
      </aside>
    </div>
  )
}
