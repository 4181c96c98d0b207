/**
 * Downloads of a plot: values as CSV and the picture as PNG. A canvas draws the picture, because the content security policy forbids
 * images.
 */
import { save } from '../app/api.ts'
import { eventsIn } from '../plots/event-labels.ts'
import { corners, looks, type Look, type LookName, type PlotData, type Series, type Shape } from './drawing.ts'
import { textures } from './plot-svg.tsx'

/** Quotes a CSV cell. An apostrophe prevents that a spreadsheet runs the cell as a formula. */
function quoted(cell: string): string {
  const text = /^[=+\-@\t]/.test(cell) ? `'${cell}` : cell
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const linesOf = (rows: readonly (readonly string[])[]): string => rows.map((row) => row.map(quoted).join(',')).join('\r\n')

/** Returns CSV with times in UTC (ISO 8601) and decimal points. */
export function csvOf({ times, stepMs, series, before, events = [] }: PlotData, changesLabel: string): string {
  const head = [...series.map(({ label }) => label), ...(before ? [before.label] : []), ...(events.length > 0 ? [changesLabel] : [])]
  const rows = times.map((time, at) => [
    new Date(time).toISOString(),
    ...series.map(({ values }) => String(values[at] ?? '')),
    ...(before ? [String(before.values[at] ?? '')] : []),
    ...(events.length > 0
      ? [
          eventsIn(events, time, stepMs)
            .map(({ at: when, text }) => `${new Date(when).toISOString()} ${text}`)
            .join('; '),
        ]
      : []),
  ])
  return linesOf([['time', ...head], ...rows])
}

export const saveCsv = (text: string, name: string): Promise<void> =>
  save(new Blob(['\uFEFF', text, '\r\n'], { type: 'text/csv' }), `${name}.csv`)

/** Saves rows of a table that is not a plot. */
export const saveRows = (rows: readonly (readonly string[])[], name: string): Promise<void> => saveCsv(linesOf(rows), name)

const scale = 2

interface Picture {
  readonly shapes: readonly Shape[]
  readonly width: number
  readonly height: number
  readonly title: string
  /** File name without extension. */
  readonly name: string
  /** Legend below the picture. */
  readonly key?: Pick<PlotData, 'series' | 'before'>
}

export async function savePng({ shapes, width, height, title, name, key }: Picture): Promise<void> {
  const head = 28
  const canvas = document.createElement('canvas')
  const context = canvas.getContext('2d')
  if (!context) return
  const { colour, font, done: forget } = coloursOfPage()
  const small = `11px ${font}`
  context.font = small
  const entries = key ? keyOf(key, { width, top: height, widthOf: (text) => context.measureText(text).width }) : []
  const foot = entries.length === 0 ? 0 : (entries.at(-1)?.y ?? height) - height + 12
  // resizing the canvas resets its context
  Object.assign(canvas, { width: width * scale, height: (head + height + foot) * scale })
  context.scale(scale, scale)
  context.fillStyle = colour('--sheet')
  context.fillRect(0, 0, width, head + height + foot)
  context.fillStyle = colour('--ink')
  context.font = `600 13px ${font}`
  context.fillText(title, 8, 18)
  context.translate(0, head)
  context.font = small
  for (const shape of [...shapes, ...entries.flatMap(({ shapes: own }) => own)]) paint(context, shape, colour)
  forget()
  const file = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (file) await save(file, `${name}.png`)
}

interface KeyEntry {
  readonly y: number
  readonly shapes: readonly Shape[]
}
interface KeyPlace {
  readonly width: number
  readonly top: number
  readonly widthOf: (text: string) => number
}

/** Returns the legend in as many lines as necessary. */
function keyOf({ series, before }: Pick<PlotData, 'series' | 'before'>, { width, top, widthOf }: KeyPlace): readonly KeyEntry[] {
  const all = [...series, ...(before ? [{ ...before, look: 'before', kind: 'line' } as const] : [])]
  let [x, y] = [8, top + 14]
  return all.map(({ label, total, look, kind }): KeyEntry => {
    const text = `${label}  ${total}`
    const room = widthOf(text) + 40
    if (x + room > width && x > 8) [x, y] = [8, y + 16]
    const at = x
    x += room
    return { y, shapes: [sampleOf(look, kind, at, y), { kind: 'text', look: 'plain', x: at + 20, y, text, anchor: 'start' }] }
  })
}

function sampleOf(look: LookName, kind: Series['kind'], x: number, y: number): Shape {
  if (kind === 'bar') return { kind, look, x: x + 2, y: y - 9, width: 10, height: 10 }
  if (kind === 'line') return { kind, look, points: [[x, y - 4], [x + 14, y - 4]] } // prettier-ignore
  return { kind, look, x: x + 7, y: y - 4 }
}

/** Returns the current colors of the page, for the light or dark theme. */
function coloursOfPage() {
  const probe = document.body.appendChild(document.createElement('i'))
  const colour = (variable: string): string => {
    probe.style.color = `var(${variable})`
    return getComputedStyle(probe).color
  }
  return { colour, font: getComputedStyle(document.body).fontFamily, done: () => probe.remove() }
}

function paint(context: CanvasRenderingContext2D, shape: Shape, colour: (variable: string) => string): void {
  const look: Look = looks[shape.look]
  if (shape.kind === 'bar') {
    context.fillStyle = fillOf(context, look, colour)
    context.fillRect(shape.x, shape.y, shape.width, shape.height)
  } else if (shape.kind === 'diamond' || shape.kind === 'flag') {
    context.fillStyle = colour(look.fill ?? '--ink')
    context.beginPath()
    for (const [x, y] of corners[shape.kind]) context.lineTo(shape.x + x, shape.y + y)
    context.fill()
  } else if (shape.kind === 'text') {
    context.fillStyle = colour(look.text ?? '--ink')
    context.textAlign = shape.anchor === 'middle' ? 'center' : shape.anchor
    context.fillText(shape.text, shape.x, shape.y)
  } else {
    context.strokeStyle = colour(look.stroke ?? '--ink')
    context.lineWidth = look.width ?? 1
    context.setLineDash([...(look.dash ?? [])])
    context.beginPath()
    for (const [x, y] of shape.points) context.lineTo(x, y)
    context.stroke()
  }
}

function fillOf(context: CanvasRenderingContext2D, look: Look, colour: (variable: string) => string): string | CanvasPattern {
  const plain = colour(look.fill ?? '--ink')
  if (!look.texture) return plain
  const tile = Object.assign(document.createElement('canvas'), { width: 6 * scale, height: 6 * scale })
  const on = tile.getContext('2d')
  if (!on) return plain
  on.scale(scale, scale)
  on.fillStyle = colour('--sheet')
  on.fillRect(0, 0, 6, 6)
  on.strokeStyle = plain
  on.lineWidth = 1.75
  on.stroke(new Path2D(textures[look.texture]))
  const pattern = context.createPattern(tile, 'repeat')
  pattern?.setTransform(new DOMMatrix().scale(1 / scale))
  return pattern ?? plain
}
