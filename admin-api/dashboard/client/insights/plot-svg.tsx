/** Renders the shapes of a plot as SVG. */
import type { JSX } from 'preact'
import { corners, looks, type Look, type LookName, type Series, type Shape, type Texture } from './drawing.ts'

const lookOf = (name: LookName): Look => looks[name]
const colour = (name: string | undefined): string => (name === undefined ? 'none' : `var(${name})`)

/** Returns the id of the fill pattern of a look. */
const patternOf = (scope: string, name: LookName): string => `${scope}-${name}`

export function Shapes({ shapes, scope }: { readonly shapes: readonly Shape[]; readonly scope: string }): JSX.Element {
  const textured = [...new Set(shapes.filter(({ kind }) => kind === 'bar').map(({ look }) => look))].filter((name) => lookOf(name).texture)
  return (
    <>
      <defs>
        {textured.map((name) => (
          <Pattern key={name} id={patternOf(scope, name)} look={lookOf(name)} />
        ))}
      </defs>
      {shapes.map((shape, at) => (
        <One key={at} shape={shape} scope={scope} />
      ))}
    </>
  )
}

function One({ shape, scope }: { readonly shape: Shape; readonly scope: string }): JSX.Element {
  const look = lookOf(shape.look)
  if (shape.kind === 'bar') {
    const { x, y, width, height } = shape
    return <rect {...{ x, y, width, height }} fill={look.texture ? `url(#${patternOf(scope, shape.look)})` : colour(look.fill)} />
  }
  if (shape.kind === 'diamond' || shape.kind === 'flag') return <path d={markAt(shape.kind, shape.x, shape.y)} fill={colour(look.fill)} />
  if (shape.kind === 'text')
    return (
      <text x={shape.x} y={shape.y} text-anchor={shape.anchor} fill={colour(look.text)}>
        {shape.text}
      </text>
    )
  return (
    <polyline
      points={shape.points.map((point) => point.map((one) => Math.round(one * 10) / 10).join()).join(' ')}
      fill="none"
      stroke={colour(look.stroke)}
      stroke-width={look.width ?? 1}
      stroke-dasharray={look.dash?.join(' ')}
      stroke-linejoin="round"
    />
  )
}

const markAt = (kind: keyof typeof corners, x: number, y: number): string =>
  `M${corners[kind].map(([right, down]) => `${String(x + right)} ${String(y + down)}`).join('L')}z`

/** Strokes of each texture in a square of 6 pixels. */
export const textures: Readonly<Record<Texture, string>> = {
  hatched: 'M-1 7 7-1M-1 1 1-1M5 7 7 5',
  dotted: 'M1 1.5h1.5M4 4.500h1.500',
  striped: 'M0 1h6M0 4h6',
  netted: 'M0 3h6M3 0v6',
}

const Pattern = ({ id, look }: { readonly id: string; readonly look: Look }): JSX.Element => (
  <pattern id={id} width={6} height={6} patternUnits="userSpaceOnUse">
    <rect width={6} height={6} fill="var(--sheet)" />
    {look.texture && <path d={textures[look.texture]} stroke={colour(look.fill)} stroke-width={1.75} fill="none" />}
  </pattern>
)

/** Color sample of a legend entry. */
export const Swatch = ({
  name,
  scope,
  kind = 'bar',
}: {
  readonly name: LookName
  readonly scope: string
  readonly kind?: Series['kind']
}): JSX.Element => {
  const look = lookOf(name)
  const id = `${scope}-key`
  return (
    <svg class="swatch" viewBox="0 0 14 10" aria-hidden="true">
      {look.texture && (
        <defs>
          <Pattern id={patternOf(id, name)} look={look} />
        </defs>
      )}
      {look.stroke === undefined ? (
        kind === 'diamond' || kind === 'flag' ? (
          <path d={markAt(kind, 7, 5)} fill={colour(look.fill)} />
        ) : (
          <rect x={2} width={10} height={10} fill={look.texture ? `url(#${patternOf(id, name)})` : colour(look.fill)} />
        )
      ) : (
        <path d="M0 5h14" stroke={colour(look.stroke)} stroke-width={2} stroke-dasharray={look.dash?.join(' ')} />
      )}
    </svg>
  )
}
