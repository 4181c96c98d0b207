/** A plot as a file: its numbers as CSV, and its picture as PNG, drawn anew as the policy of the page loads no pictures. */
import { save } from '../app/api.ts'
import { looks, type Look, type PlotData, type Shape } from './drawing.ts'
import { textures } from './plot-svg.tsx'

/** What a spreadsheet would take for a formula is text. */
function quoted(cell: string): string {
  const text = /^[=+\-@\t]/.test(cell) ? `'${cell}` : cell
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const linesOf = (rows: readonly (readonly string[])[]): string => rows.map((row) => row.map(quoted).join(',')).join('\r\n')

/** Times are in UTC, with the zone; numbers have a point. */
export function csvOf({ times, series, before }: PlotData, beforeLabel: string): string {
  const head = ['time', ...series.map(({ label }) => label), ...(before ? [beforeLabel] : [])]
  const rows = times.map((time, at) => [
    new Date(time).toISOString(),
    ...series.map(({ values }) => String(values[at] ?? '')),
    ...(before ? [String(before[at] ?? '')] : []),
  ])
  return linesOf([head, ...rows])
}

export const saveCsv = (text: string, name: string): Promise<void> =>
  save(new Blob(['\uFEFF', text, '\r\n'], { type: 'text/csv' }), `${name}.csv`)

/** Of rows that are no plot over time. */
export const saveRows = (rows: readonly (readonly string[])[], name: string): Promise<void> => saveCsv(linesOf(rows), name)

const scale = 2

export async function savePng(shapes: readonly Shape[], width: number, height: number, title: string, name: string): Promise<void> {
  const head = 28
  const canvas = Object.assign(document.createElement('canvas'), { width: width * scale, height: (height + head) * scale })
  const context = canvas.getContext('2d')
  if (!context) return
  const { colour, font, done: forget } = coloursOfPage()
  context.scale(scale, scale)
  context.fillStyle = colour('--sheet')
  context.fillRect(0, 0, width, height + head)
  context.fillStyle = colour('--ink')
  context.font = `600 13px ${font}`
  context.fillText(title, 8, 18)
  context.translate(0, head)
  context.font = `11px ${font}`
  for (const shape of shapes) paint(context, shape, colour)
  forget()
  const file = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'))
  if (file) await save(file, `${name}.png`)
}

/** Colours as the page shows them now, light or dark. */
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
  } else if (shape.kind === 'diamond') {
    context.fillStyle = colour(look.fill ?? '--ink')
    context.beginPath()
    for (const [x, y] of [
      [0, -4],
      [4, 0],
      [0, 4],
      [-4, 0],
    ] as const)
      context.lineTo(shape.x + x, shape.y + y)
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
