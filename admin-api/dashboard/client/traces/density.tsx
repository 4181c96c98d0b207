/** Message counts over time: bars above a line, failures below it, and a brush that limits the list. */
import type { JSX, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { asQuery, axisLabels, ranges, rangeOf, spanOf, stepLabel, type Range, type TimeSpan } from '../insights/time-range.ts'
import { Segments } from '../parts/controls.tsx'
import { number } from '../parts/time.ts'
import type { DeliveryInsight, SendInsight } from '../wire/api.d.ts'
import { texts } from './traces-texts.ts'

interface DensityProps {
  /** Start time of the filters. */
  readonly since: string | undefined
  readonly until: string | undefined
}

const spanNames: Readonly<Record<Range, () => string>> = {
  '24h': () => texts().hours,
  '7d': () => texts().days({ n: 7 }),
  '30d': () => texts().days({ n: 30 }),
  '90d': () => texts().days({ n: 90 }),
}

export function Density({ since, until }: DensityProps): JSX.Element | null {
  const w = texts()
  const [now] = useState(() => Date.now())
  const range = rangeOf(query.value)
  const span = spanOf(range, false, now)
  const input = { query: { ...asQuery(span), ...(projectId.value !== undefined && { project: projectId.value }) } }
  const sends = useRead('/v1/insights/sends', input)
  const delivery = useRead('/v1/insights/delivery', input)
  if (sends.state === 'failed') return <p class="faint">{w.densityFailed}</p>
  const bars = barsOf(sends.data, delivery.data)
  const total = bars.reduce((sum, { relayed, captured, refused }) => sum + relayed + captured + refused, 0)
  return (
    <div class="density">
      <div class="density-head">
        <p>{sends.data && w.counted({ n: number(total), from: stepLabel(span.from, span.stepMs), to: w.now })}</p>
        <ul aria-hidden="true">
          <li class="relayed">{w.relayed}</li>
          <li class="captured">{w.captured}</li>
          <li class="below">{w.below}</li>
        </ul>
        <Segments
          label={w.span}
          value={range}
          onChoose={(next) => go(linkHere({ range: next === '24h' ? '' : next, since: '', until: '' }), { replaces: true })}
          choices={ranges.map((value) => ({ value, label: spanNames[value]() }))}
        />
      </div>
      <Plot bars={bars} span={span} since={since} until={until} />
    </div>
  )
}

interface Bar {
  readonly relayed: number
  readonly captured: number
  readonly refused: number
  readonly failed: number
}

function barsOf(sends: SendInsight | undefined, delivery: DeliveryInsight | undefined): readonly Bar[] {
  return (sends?.points ?? []).map((point, i) => {
    const after = delivery?.points[i]
    return {
      relayed: point.relayed,
      captured: point.captured_sandbox_destination + point.captured_no_route + point.captured_anonymous_project,
      refused: point.refused,
      failed: (after?.failed ?? 0) + (after?.bounced ?? 0),
    }
  })
}

const height = 84
const line = 56
const foot = 12

interface PlotProps extends DensityProps {
  readonly bars: readonly Bar[]
  readonly span: TimeSpan
}

function Plot({ bars, span, since, until }: PlotProps): JSX.Element {
  const w = texts()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const steps = Math.round((span.to - span.from) / span.stepMs)
  const commit = ([from, to]: Choice): void => {
    const at = (index: number): string => new Date(span.from + index * span.stepMs).toISOString()
    go(linkHere({ since: from <= 0 ? '' : at(from), until: to >= steps ? '' : at(to), trace: '' }), { replaces: true })
  }
  const { dragged, begin } = useBrush({ box, width, steps, onChoose: commit })
  const chosen = dragged ?? chosenOf({ since, until }, span, steps)
  const [from, to] = chosen
  const x = (index: number): number => (index / steps) * width
  return (
    <div ref={box}>
      <svg class="density-plot" width={width} height={height + 16} role="group" aria-label={w.density}>
        <Bars bars={bars} chosen={chosen} x={x} width={width / steps} />
        <path class="base" d={`M0 ${String(line)}H${String(width)}`} />
        <rect class="catch" width={width} height={height} onPointerDown={begin} />
        <rect class="brush" x={x(from)} width={Math.max(0, x(to) - x(from))} height={height} />
        <Handle label={w.since} index={from} steps={steps} x={x(from)} span={span} onMove={(at) => commit(ordered(at, to))} />
        <Handle label={w.until} index={to} steps={steps} x={x(to)} span={span} onMove={(at) => commit(ordered(from, at))} />
        <Labels span={span} steps={steps} width={width} x={x} />
      </svg>
    </div>
  )
}

interface LabelsProps {
  readonly span: TimeSpan
  readonly steps: number
  readonly width: number
  readonly x: (index: number) => number
}

function Labels({ span: { from, stepMs }, steps, width, x }: LabelsProps): JSX.Element {
  const times = Array.from({ length: steps }, (_, i) => from + i * stepMs)
  const labels = axisLabels(times, stepMs, width, texts().now)
  return (
    <g>
      {labels.map(([at, text], i) => {
        const isLast = i === labels.length - 1
        return (
          <text key={at} x={isLast ? width : x(at)} y={height + 13} text-anchor={isLast ? 'end' : 'start'}>
            {text}
          </text>
        )
      })}
    </g>
  )
}

/** First step, and the step after the last one. */
type Choice = readonly [number, number]

interface Brush {
  readonly box: RefObject<HTMLElement | null>
  readonly width: number
  readonly steps: number
  readonly onChoose: (choice: Choice) => void
}

/** Selects a range with the pointer. A click without movement selects everything. */
function useBrush({ box, width, steps, onChoose }: Brush) {
  const [dragged, setDragged] = useState<Choice>()
  const place = ({ clientX }: PointerEvent): number => {
    const { left } = box.current?.getBoundingClientRect() ?? { left: 0 }
    return Math.max(0, Math.min(steps, Math.round(((clientX - left) / width) * steps)))
  }
  const begin = (event: PointerEvent): void => {
    const from = place(event)
    const target = event.currentTarget as SVGElement
    target.setPointerCapture(event.pointerId)
    const move = (later: PointerEvent): void => setDragged(ordered(from, place(later)))
    const end = (later: PointerEvent): void => {
      target.removeEventListener('pointermove', move)
      setDragged(undefined)
      const to = place(later)
      onChoose(from === to ? [0, steps] : ordered(from, to))
    }
    target.addEventListener('pointermove', move)
    target.addEventListener('pointerup', end, { once: true })
  }
  return { dragged, begin }
}

const ordered = (a: number, b: number): Choice => (a < b ? [a, b] : [b, a])

/** Returns the steps selected by the filters, within the visible range. */
function chosenOf({ since, until }: DensityProps, span: TimeSpan, steps: number): Choice {
  const index = (time: string | undefined, otherwise: number): number => {
    const at = time === undefined ? NaN : (Date.parse(time) - span.from) / span.stepMs
    return Number.isNaN(at) ? otherwise : Math.max(0, Math.min(steps, at))
  }
  return [index(since, 0), index(until, steps)]
}

interface BarsProps {
  readonly bars: readonly Bar[]
  readonly chosen: Choice
  readonly x: (index: number) => number
  readonly width: number
}

function Bars({ bars, chosen, x, width }: BarsProps): JSX.Element {
  const most = Math.max(1, ...bars.map(({ relayed, captured, refused }) => relayed + captured + refused))
  const worst = Math.max(1, ...bars.map(({ failed }) => failed))
  const tall = (count: number): number => (count === 0 ? 0 : Math.max(1.5, (count / most) * (line - 4)))
  const inner = Math.max(1, width - (width > 6 ? 3 : 1))
  return (
    <g aria-hidden="true">
      {bars.map(({ relayed, captured, refused, failed }, i) => {
        const [a, b, c] = [tall(relayed), tall(captured), tall(refused)]
        const deep = failed === 0 ? 0 : Math.max(3, (failed / worst) * foot)
        return (
          <g key={i} class={i + 1 > chosen[0] && i < chosen[1] ? '' : 'dim'}>
            <rect class="relayed" x={x(i)} y={line - a} width={inner} height={a} />
            <rect class="captured" x={x(i)} y={line - a - b} width={inner} height={b} />
            <rect class="refused" x={x(i)} y={line - a - b - c} width={inner} height={c} />
            <rect class="failed" x={x(i)} y={line + 2} width={inner} height={deep} />
          </g>
        )
      })}
    </g>
  )
}

interface HandleProps {
  readonly label: string
  readonly index: number
  readonly steps: number
  readonly x: number
  readonly span: TimeSpan
  readonly onMove: (index: number) => void
}

function Handle({ label, index, steps, x, span, onMove }: HandleProps): JSX.Element {
  const at = Math.round(index)
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -6, PageUp: 6 }[event.key]
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? steps : by === undefined ? undefined : at + by
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    onMove(Math.max(0, Math.min(steps, to)))
  }
  return (
    <g
      class="handle"
      role="slider"
      // SVG attribute names are case-sensitive
      tabindex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={steps}
      aria-valuenow={at}
      aria-valuetext={stepLabel(span.from + index * span.stepMs, span.stepMs)}
      onKeyDown={move}
    >
      <rect class="grip" x={x - 12} width="24" height={height} />
      <path d={`M${String(x)} 0V${String(height)}`} />
      <rect x={x - 3} y={line / 2 - 9} width="6" height="18" rx="3" />
    </g>
  )
}

function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800)
  useEffect(() => {
    const element = box.current
    if (!element) return undefined
    const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return width
}
