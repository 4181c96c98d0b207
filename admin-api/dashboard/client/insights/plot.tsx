/** A plot: title, picture, legend, tools and table view. */
import type { ComponentChildren, JSX } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { go } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import { texts } from '../texts/texts.ts'
import { exploreLink, PlotKey, valueAt, type Explore } from '../plots/plot-key.tsx'
import { eventLabels, eventsIn } from '../plots/event-labels.ts'
import { useEvents } from '../plots/events.tsx'
import { texts as plotTexts } from '../plots/plots-texts.ts'
import { draw, frameOf, isEmpty, middleOf, type PlotData } from './drawing.ts'
import { csvOf, saveCsv, savePng } from './plot-files.ts'
import { Shapes } from './plot-svg.tsx'
import { axisLabels, stepLabel } from './time-range.ts'

/** Time under the cursor, shared by all plots of the screen. */
const cursor = signal<number | undefined>(undefined)

interface PlotProps {
  readonly title: string
  /** Unit and step, shown next to the title. */
  readonly note: string
  /** Describes the plot in a sentence. */
  readonly summary: string
  readonly data: PlotData
  /** File name of downloads, without extension. */
  readonly name: string
  readonly height?: number
  readonly explore?: Explore | undefined
  /** Content in place of the tools. The legend then has no text about the time. */
  readonly instead?: ComponentChildren
}

export function Plot(given: PlotProps): JSX.Element {
  const data = { ...given.data, events: eventLabels(useEvents(), given.data) }
  const props = { ...given, data }
  const { title, note, name, instead } = props
  const w = texts()
  const [asTable, setAsTable] = useState(false)
  const id = useId()
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="faint">{note}</span>
        {instead ?? (
          <span class="plot-tools">
            <Tool
              label={`${asTable ? w.asPlot : w.asTable}: ${title}`}
              icon={asTable ? 'overview' : 'traces'}
              onClick={() => setAsTable(!asTable)}
            />
            <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveCsv(csvOf(data, plotTexts().changes), name)} />
            {!asTable && <Tool label={`PNG: ${title}`} text="PNG" onClick={() => void savePicture(props)} />}
          </span>
        )}
      </div>
      {asTable ? <Numbers {...props} /> : <Picture {...props} />}
    </section>
  )
}

interface ToolProps {
  readonly label: string
  readonly icon?: 'overview' | 'traces'
  readonly text?: string
  readonly onClick: () => void
}

export const Tool = ({ label, icon, text, onClick }: ToolProps): JSX.Element => (
  <button class="button quiet small" type="button" aria-label={label} title={label} onClick={onClick}>
    {icon && <Icon name={icon} />}
    {text}
  </button>
)

const usualHeight = 180

function savePicture({ data, title, note, name, height = usualHeight }: PlotProps): Promise<void> {
  const width = 960
  const frame = frameOf(width, height)
  const shapes = draw(data, frame, axisLabels(data.times, data.stepMs, width, data.last ?? texts().now))
  return savePng({ shapes, width, height, title: `${title} – ${note}`, name, key: data })
}

/** Measures the available width in pixels. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = ref
    if (!current) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.floor(current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

function Picture(props: PlotProps): JSX.Element {
  const { data, title, summary, explore, height = usualHeight, instead } = props
  const w = texts()
  const id = useId()
  const { ref, width } = useWidth()
  // a brief plot of one series has the series as its title
  const isPlain = instead !== undefined && data.series.length === 1
  const chosen = indexOf(data, cursor.value)
  const frame = frameOf(Math.max(width, 120), height)
  const shapes = draw(data, frame, axisLabels(data.times, data.stepMs, frame.width, data.last ?? w.now))
  const x = chosen === undefined ? 0 : middleOf(data, frame, chosen)
  return (
    <>
      <div
        class={explore ? 'plot-area opens' : 'plot-area'}
        ref={ref}
        style={{ minHeight: `${String(height)}px` }}
        onPointerLeave={() => (cursor.value = undefined)}
        onPointerMove={follow(data, frame)}
      >
        {width > 0 && (
          <svg class="plot-picture" width={frame.width} height={height} role="img" aria-labelledby={`${id}-t ${id}-d`}>
            <title id={`${id}-t`}>{title}</title>
            <desc id={`${id}-d`}>{summary}</desc>
            <Shapes shapes={shapes} scope={id} />
            {chosen !== undefined && <path d={`M${x} ${frame.top}V${frame.bottom}`} stroke="var(--ink)" />}
          </svg>
        )}
        <Steps {...props} chosen={chosen} />
        {isEmpty(data) && <p class="plot-empty faint">{w.nothingCounted}</p>}
      </div>
      {!isPlain && <PlotKey {...props} chosen={chosen} scope={id} isBrief={instead !== undefined} />}
    </>
  )
}

const indexOf = ({ times, stepMs }: PlotData, time: number | undefined): number | undefined => {
  const at = time === undefined ? -1 : times.findIndex((begin) => time >= begin && time < begin + stepMs)
  return at < 0 ? undefined : at
}

const follow =
  (data: PlotData, { left, right }: { readonly left: number; readonly right: number }) =>
  (event: PointerEvent & { readonly currentTarget: HTMLDivElement }): void => {
    if (event.pointerType !== 'mouse') return
    const share = (event.clientX - event.currentTarget.getBoundingClientRect().left - left) / (right - left)
    const at = Math.floor(share * data.times.length)
    cursor.value = data.times[Math.max(0, Math.min(data.times.length - 1, at))]
  }

/** Slider over the steps for keys and touch. Announces the values of a step; Enter opens the linked list. */
function Steps({ data, title, explore, chosen }: PlotProps & { readonly chosen: number | undefined }): JSX.Element {
  const { times, stepMs, series, format } = data
  const at = chosen ?? times.length - 1
  const spoken = `${stepLabel(times[at] ?? 0, stepMs)}: ${series.map((one) => `${one.label} ${valueAt(one.values, at, format)}`).join(', ')}`
  const open = (): void => {
    if (explore) go(exploreLink(explore, data, at))
  }
  return (
    <input
      class="plot-steps"
      type="range"
      min={0}
      max={Math.max(0, times.length - 1)}
      value={at}
      aria-label={`${title}, ${texts().step}`}
      aria-valuetext={spoken}
      onInput={(event) => (cursor.value = times[Number(event.currentTarget.value)])}
      onFocus={() => (cursor.value ??= times[at])}
      onBlur={() => (cursor.value = undefined)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') open()
      }}
      onPointerUp={({ pointerType, button }) => {
        if (pointerType === 'mouse' && button === 0) open()
      }}
    />
  )
}

function Numbers({ data, title }: PlotProps): JSX.Element {
  const w = texts()
  const { times, stepMs, series, before, events, format } = data
  return (
    <div class="plot-table" tabIndex={0} role="region" aria-label={`${w.table}: ${title}`}>
      <table class="plot-numbers">
        <thead>
          <tr>
            <th scope="col">{w.step}</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" class="num">
                {label}
              </th>
            ))}
            {before && (
              <th scope="col" class="num">
                {before.label}
              </th>
            )}
            {events && events.length > 0 && <th scope="col">{plotTexts().changes}</th>}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time}>
              <th scope="row">{stepLabel(time, stepMs)}</th>
              {series.map((one) => (
                <td key={one.label} class="num">
                  {valueAt(one.values, at, format)}
                </td>
              ))}
              {before && <td class="num">{valueAt(before.values, at, format)}</td>}
              {events && events.length > 0 && (
                <td>
                  {eventsIn(events, time, stepMs)
                    .map(({ label }) => label)
                    .join(', ')}
                </td>
              )}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{w.wholeTime}</th>
            {series.map((one) => (
              <td key={one.label} class="num">
                {one.total}
              </td>
            ))}
            {before && <td class="num">{before.total}</td>}
            {events && events.length > 0 && <td />}
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
