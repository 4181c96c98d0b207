/** One plot: its title, picture, key and tools, and the same as a table. */
import type { JSX } from 'preact'
import { signal } from '@preact/signals'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { link } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import { words } from '../words/words.ts'
import { draw, frameOf, isEmpty, middleOf, type PlotData, type Series } from './drawing.ts'
import { csvOf, saveCsv, savePng } from './plot-files.ts'
import { Shapes, Swatch } from './plot-svg.tsx'
import { axisLabels, stepLabel } from './time-range.ts'

/** The time over which the pointer or the keys stand, for all plots of the screen. */
const cursor = signal<number | undefined>(undefined)

interface PlotProps {
  readonly title: string
  /** Unit and step, beside the title. */
  readonly note: string
  /** Says in a sentence what is to be seen. */
  readonly summary: string
  readonly data: PlotData
  /** Of files. */
  readonly name: string
  readonly height?: number
  /** Filters of the explorer of traces for a step that is chosen; undefined where it shows nothing of the kind. */
  readonly explore?: Readonly<Record<string, string>> | undefined
}

export function Plot(props: PlotProps): JSX.Element {
  const { title, note, data, name } = props
  const w = words()
  const [asTable, setAsTable] = useState(false)
  const id = useId()
  return (
    <section class="plot" aria-labelledby={id}>
      <div class="plot-head">
        <h2 id={id}>{title}</h2>
        <span class="faint">{note}</span>
        <span class="plot-tools">
          <Tool
            label={`${asTable ? w.asPlot : w.asTable}: ${title}`}
            icon={asTable ? 'overview' : 'traces'}
            onClick={() => setAsTable(!asTable)}
          />
          <Tool label={`CSV: ${title}`} text="CSV" onClick={() => void saveCsv(csvOf(data, w.periodBefore), name)} />
          {!asTable && <Tool label={`PNG: ${title}`} text="PNG" onClick={() => void savePicture(props)} />}
        </span>
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
  const shapes = draw(data, frame, axisLabels(data.times, data.stepMs, width, words().now))
  return savePng(shapes, width, height, `${title} – ${note}`, name)
}

/** The width that the place has, in pixels. */
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
  const { data, title, summary, height = usualHeight } = props
  const w = words()
  const id = useId()
  const { ref, width } = useWidth()
  const chosen = indexOf(data, cursor.value)
  const frame = frameOf(Math.max(width, 120), height)
  const shapes = draw(data, frame, axisLabels(data.times, data.stepMs, frame.width, w.now))
  const x = chosen === undefined ? 0 : middleOf(data, frame, chosen)
  return (
    <>
      <div class="plot-area" ref={ref} onPointerLeave={() => (cursor.value = undefined)} onPointerMove={follow(data, frame)}>
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
      <Key {...props} chosen={chosen} scope={id} />
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

/** Goes from step to step by keys or by touch; a slider says the values of the step that it stands on. */
function Steps({ data, title, chosen }: PlotProps & { readonly chosen: number | undefined }): JSX.Element {
  const { times, stepMs, series, format } = data
  const at = chosen ?? times.length - 1
  const spoken = `${stepLabel(times[at] ?? 0, stepMs)}: ${series.map((one) => `${one.label} ${valueAt(one, at, format)}`).join(', ')}`
  return (
    <input
      class="plot-steps"
      type="range"
      min={0}
      max={Math.max(0, times.length - 1)}
      value={at}
      aria-label={`${title}, ${words().step}`}
      aria-valuetext={spoken}
      onInput={(event) => (cursor.value = times[Number(event.currentTarget.value)])}
      onFocus={() => (cursor.value ??= times[at])}
      onBlur={() => (cursor.value = undefined)}
    />
  )
}

const valueAt = ({ values }: Series, at: number, format: (value: number) => string): string => {
  const value = values[at]
  return value === null || value === undefined ? '–' : format(value)
}

/** The totals; those of one step while the cursor stands on it. */
function Key({ data, explore, chosen, scope }: PlotProps & { readonly chosen: number | undefined; readonly scope: string }): JSX.Element {
  const w = words()
  const { series, before, times, stepMs, format } = data
  const time = chosen === undefined ? undefined : times[chosen]
  const since = time ?? times[0] ?? 0
  const until = (time ?? times.at(-1) ?? 0) + stepMs
  return (
    <div class="plot-key">
      <ul>
        {series.map((one) => (
          <li key={one.label}>
            <Swatch name={one.look} scope={scope} isDiamond={one.kind === 'diamond'} />
            {one.label} <b>{chosen === undefined ? one.total : valueAt(one, chosen, format)}</b>
          </li>
        ))}
        {before && (
          <li>
            <Swatch name="before" scope={scope} />
            {w.periodBefore} {chosen !== undefined && <b>{valueAt({ values: before } as Series, chosen, format)}</b>}
          </li>
        )}
      </ul>
      <p class="faint">
        {time === undefined ? w.wholeTime : stepLabel(time, stepMs)}{' '}
        {explore && (
          <a href={link('/traces', { ...explore, since: new Date(since).toISOString(), until: new Date(until).toISOString() })}>
            {w.showTraces}
          </a>
        )}
      </p>
    </div>
  )
}

function Numbers({ data, title }: PlotProps): JSX.Element {
  const w = words()
  const { times, stepMs, series, before, format } = data
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
                {w.periodBefore}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time}>
              <th scope="row">{stepLabel(time, stepMs)}</th>
              {series.map((one) => (
                <td key={one.label} class="num">
                  {valueAt(one, at, format)}
                </td>
              ))}
              {before && <td class="num">{valueAt({ values: before } as Series, at, format)}</td>}
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
            {before && <td />}
          </tr>
        </tfoot>
      </table>
    </div>
  )
}
