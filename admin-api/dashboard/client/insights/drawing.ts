/**
 * Converts a plot to shapes. `plot-svg.tsx` renders them and `plot-files.ts` draws them into a file, so that both have the same geometry.
 */

/** Fills and strokes. Each differs from the others by texture or shape, not only by color. */
export const looks = {
  relayed: { fill: '--p-relayed' },
  hatched: { fill: '--p-held', texture: 'hatched' },
  dotted: { fill: '--p-held', texture: 'dotted' },
  solid: { fill: '--p-held' },
  striped: { fill: '--p-refused', texture: 'striped' },
  plain: { fill: '--edge' },
  speckled: { fill: '--p-refused', texture: 'dotted' },
  netted: { fill: '--p-refused', texture: 'netted' },
  badNetted: { fill: '--p-bad', texture: 'netted' },
  bad: { fill: '--p-bad' },
  line: { stroke: '--p-relayed', width: 1.75 },
  dashed: { stroke: '--sent', width: 1.5, dash: [6, 4] },
  dots: { stroke: '--p-held', width: 1.75, dash: [1.5, 4] },
  before: { stroke: '--edge', width: 1 },
  warnLimit: { stroke: '--warn', width: 1, dash: [5, 4], text: '--warn' },
  badLimit: { stroke: '--bad', width: 1, dash: [5, 4], text: '--bad' },
  grid: { stroke: '--line-strong', width: 1, dash: [1, 4] },
  base: { stroke: '--line-strong', width: 1 },
  event: { stroke: '--soft', width: 1.5, dash: [1.5, 3], text: '--soft' },
  badEvent: { stroke: '--bad', width: 1.5, dash: [1.5, 3], text: '--bad' },
  cursor: { stroke: '--ink', width: 1 },
  axis: { text: '--faint' },
} as const satisfies Record<string, Look>
export type LookName = keyof typeof looks
export type Texture = 'hatched' | 'dotted' | 'striped' | 'netted'

export interface Look {
  /** Name of a color in `style/tokens.css`. */
  readonly fill?: string
  readonly stroke?: string
  readonly text?: string
  readonly texture?: Texture
  readonly width?: number
  readonly dash?: readonly number[]
}

export type Shape =
  | {
      readonly kind: 'bar'
      readonly look: LookName
      readonly x: number
      readonly y: number
      readonly width: number
      readonly height: number
    }
  | { readonly kind: 'line'; readonly look: LookName; readonly points: readonly (readonly [x: number, y: number])[] }
  | { readonly kind: 'diamond'; readonly look: LookName; readonly x: number; readonly y: number }
  | { readonly kind: 'flag'; readonly look: LookName; readonly x: number; readonly y: number }
  | {
      readonly kind: 'text'
      readonly look: LookName
      readonly x: number
      readonly y: number
      readonly text: string
      readonly anchor: 'start' | 'middle' | 'end'
    }

/** Corners of marker symbols, relative to the center. */
export const corners = {
  diamond: [[0, -4], [4, 0], [0, 4], [-4, 0]],
  flag: [[-3, -5], [4, -5], [1.5, -2], [4, 1], [-1.5, 1], [-1.5, 5], [-3, 5]],
} as const satisfies Record<'diamond' | 'flag', readonly (readonly [number, number])[]> // prettier-ignore

/** Values of each step. Null means that a step has no value. */
export interface Series {
  readonly label: string
  readonly look: LookName
  /** Bars are stacked in the order of the series. */
  readonly kind: 'bar' | 'line' | 'diamond' | 'flag'
  readonly values: readonly (number | null)[]
  /** Total of the period as text. */
  readonly total: string
  /** Filter of the linked list for this series. */
  readonly explore?: Readonly<Record<string, string>>
}

/** Values of the previous period as one line. */
export interface Before {
  readonly values: readonly (number | null)[]
  readonly label: string
  readonly total: string
}

/** A change that may explain a change of the values. */
export interface PlotEvent {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly text: string
  /** Whether the event is a problem. */
  readonly isBad: boolean
}

export interface Limit {
  readonly value: number
  readonly label: string
  readonly look: 'warnLimit' | 'badLimit'
}

export interface PlotData {
  /** Start of each step in milliseconds since the epoch. */
  readonly times: readonly number[]
  readonly stepMs: number
  readonly series: readonly Series[]
  readonly before?: Before | undefined
  /** In chronological order. */
  readonly events?: readonly (PlotEvent & { readonly label: string })[]
  readonly limits?: readonly Limit[]
  /** Minimum upper end of the axis. */
  readonly atLeast?: number
  readonly format: (value: number) => string
  /** Label at the end of the axis. Defaults to now. */
  readonly last?: string | undefined
}

export interface Frame {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export const frameOf = (width: number, height: number): Frame => ({
  width,
  height,
  left: 52,
  right: width - 8,
  top: 12,
  bottom: height - 20,
})

export const middleOf = ({ times }: PlotData, { left, right }: Frame, index: number): number =>
  left + ((right - left) * (index + 0.5)) / Math.max(1, times.length)

export const isEmpty = ({ series }: PlotData): boolean =>
  series.every(({ kind, values }) => values.every((value) => value === null || (kind !== 'line' && value === 0)))

/** Returns at most four round axis steps, up to the first one above the value. */
function ticksOf(most: number): readonly number[] {
  if (most <= 0) return [0, 1]
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough - 1e-12) ?? rough
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, i) => i * step)
}

/** Returns the highest value of the plot. */
function mostOf({ series, before, limits = [], atLeast = 0 }: PlotData): number {
  const bars = series.filter(({ kind }) => kind === 'bar')
  const others = series.filter(({ kind }) => kind === 'line')
  const stacked = bars[0]?.values.map((_, at) => bars.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)) ?? []
  const numbers = [...stacked, ...others.flatMap(({ values }) => values), ...(before?.values ?? []), ...limits.map(({ value }) => value)]
  return numbers.reduce<number>((most, value) => Math.max(most, value ?? 0), atLeast)
}

/** Height of a limit label in pixels. */
const labelRoom = 16

/** Returns all shapes except the cursor line. `timeLabels` contains axis labels by step. */
export function draw(data: PlotData, frame: Frame, timeLabels: readonly (readonly [index: number, label: string])[]): readonly Shape[] {
  const ticks = ticksOf(mostOf(data))
  const top = ticks.at(-1) ?? 1
  const y = (value: number): number => frame.bottom - ((frame.bottom - frame.top) * Math.min(value, top)) / top
  const x = (index: number): number => middleOf(data, frame, index)
  const across = (value: number): readonly (readonly [number, number])[] => [
    [frame.left, y(value)],
    [frame.right, y(value)],
  ]
  const shapes: Shape[] = ticks.flatMap((tick): readonly Shape[] => [
    { kind: 'line', look: tick === 0 ? 'base' : 'grid', points: across(tick) },
    { kind: 'text', look: 'axis', x: frame.left - 8, y: y(tick) + 4, text: data.format(tick), anchor: 'end' },
  ])
  const limits = data.limits ?? []
  const highest = Math.max(...limits.map(({ value }) => value))
  for (const { value, label, look } of limits) {
    shapes.push({ kind: 'line', look, points: across(value) })
    // labels of limits are at opposite ends, and above both lines if these are close
    const isLow = look === 'warnLimit'
    const [textX, anchor] = isLow ? ([frame.left + 4, 'start'] as const) : ([frame.right, 'end'] as const)
    shapes.push({ kind: 'text', look, x: textX, y: (y(value) - y(highest) < labelRoom ? y(highest) : y(value)) - 4, text: label, anchor })
  }
  shapes.push(...bars(data, frame, y))
  if (data.before) shapes.push(...lines(data.before.values, 'before', x, y))
  for (const { kind, values, look } of data.series) if (kind === 'line') shapes.push(...lines(values, look, x, y))
  shapes.push(...events(data, frame))
  for (const [index, text] of timeLabels) {
    const anchor = index === 0 ? 'start' : index === data.times.length - 1 ? 'end' : 'middle'
    shapes.push({ kind: 'text', look: 'axis', x: anchor === 'start' ? frame.left : x(index), y: frame.height - 4, text, anchor })
  }
  return shapes
}

function bars(data: PlotData, { left, right, top }: Frame, y: (value: number) => number): readonly Shape[] {
  const room = (right - left) / Math.max(1, data.times.length)
  const gap = data.times.length >= 60 || room < 8 ? 1 : 3
  const shapes: Shape[] = []
  for (const [index] of data.times.entries()) {
    let sum = 0
    const x = left + room * index + gap / 2
    for (const { kind, values, look } of data.series) {
      const value = values[index] ?? 0
      if (kind !== 'bar' || value === 0) continue
      const height = Math.max(1, y(sum) - y(sum + value))
      shapes.push({ kind: 'bar', look, x, y: y(sum) - height, width: Math.max(1, room - gap), height })
      sum += value
    }
    for (const [i, { kind, look }] of data.series.filter(({ kind, values }) => isMark(kind) && (values[index] ?? 0) > 0).entries())
      if (isMark(kind)) shapes.push({ kind, look, x: left + room * (index + 0.5), y: Math.max(top - 2, y(sum) - 7 - 10 * i) })
  }
  return shapes
}

const isMark = (kind: Series['kind']): kind is 'diamond' | 'flag' => kind === 'diamond' || kind === 'flag'

/** Average width of a letter on the axis in pixels, rounded up. */
const letterWidth = 6

/** Dotted vertical lines of events. Labels appear if they fit: problems first, then the latest events. */
function events({ events: all = [], times, stepMs }: PlotData, { left, right, top, bottom }: Frame): readonly Shape[] {
  const begin = times[0] ?? 0
  const taken: (readonly [number, number])[] = []
  const isFree = (from: number, to: number): boolean =>
    from >= left && to <= right && taken.every(([start, end]) => to <= start || from >= end)
  return all
    .toSorted((a, b) => Number(b.isBad) - Number(a.isBad) || b.at - a.at)
    .flatMap(({ at, label, isBad }): readonly Shape[] => {
      const x = left + ((right - left) * (at - begin)) / (times.length * stepMs)
      const look = isBad ? 'badEvent' : 'event'
      const upright: Shape = { kind: 'line', look, points: [[x, top], [x, bottom]] } // prettier-ignore
      const width = label.length * letterWidth + 4
      const isBefore = isFree(x - width, x)
      if (!isBefore && !isFree(x, x + width)) return [upright]
      taken.push(isBefore ? [x - width, x] : [x, x + width])
      const text: Shape = { kind: 'text', look, x: isBefore ? x - 4 : x + 4, y: top - 2, text: label, anchor: isBefore ? 'end' : 'start' }
      return [upright, text]
    })
}

/** Returns a line for each run of steps with values. A single step is a short dash. */
function lines(
  values: readonly (number | null)[],
  look: LookName,
  x: (index: number) => number,
  y: (value: number) => number,
): readonly Shape[] {
  const shapes: Shape[] = []
  let run: (readonly [number, number])[] = []
  const end = (): void => {
    const [only] = run
    if (run.length === 1 && only) run = [[only[0] - 2, only[1]], [only[0] + 2, only[1]]] // prettier-ignore
    if (run.length > 0) shapes.push({ kind: 'line', look, points: run })
    run = []
  }
  for (const [index, value] of values.entries()) {
    if (value === null) end()
    else run.push([x(index), y(value)])
  }
  end()
  return shapes
}
