/** Status marks with a shape for each state, so that color is never the only signal. Also draws the path of a send. */
import type { JSX } from 'preact'
import { texts } from '../texts/shell-texts.ts'
import type { TraceSummary } from '../wire/api.d.ts'

export type Tone = 'good' | 'held' | 'sent' | 'warn' | 'bad' | 'soft'

const disc = 'M7 .5a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13'
const diamond = 'M7 .200 13.800 7 7 13.800.200 7z'
const arch = 'M1.500 13V6.500a5.500 5.500 0 0 1 11 0V13z'

type Shape = readonly [tone: Tone, filled: string, cut: string, ring?: 'solid' | 'dashed']

/** Tone, filled shape, cut-out or stroke, and ring of each mark. */
const shapes = {
  pending: ['soft', '', '', 'dashed'],
  queued: ['soft', '', 'M7 4v3.200l2 1.300', 'solid'],
  sent: ['sent', '', 'M4 7h5.500M7.500 4.700 9.800 7 7.500 9.300', 'solid'],
  delivered: ['good', disc, 'm4 7.200 2.200 2.200L10 5.300'],
  succeeded: ['good', disc, 'm4 7.200 2.200 2.200L10 5.300'],
  ok: ['good', disc, 'm4 7.200 2.200 2.200L10 5.300'],
  bounced: ['bad', diamond, 'M5.500 4.800 4 6.300l1.500 1.500M4.200 6.300h3.600a1.600 1.600 0 0 1 0 3.200H6'],
  failed: ['bad', diamond, 'm5 5 4 4m0-4L5 9'],
  complained: ['bad', 'M2 .500h1.500V2h9l-2 3.200 2 3.300h-9v5H2z', ''],
  relayed: ['good', '', 'M1.800 13V6.500a5.200 5.200 0 0 1 10.400 0M5 10h7.500M10 7.500l2.500 2.500-2.500 2.500'],
  live: ['good', '', 'M1.800 13V6.500a5.200 5.200 0 0 1 10.400 0M5 10h7.500M10 7.500l2.500 2.500-2.500 2.500'],
  captured: ['held', arch, 'm4 6.500 3 2.500 3-2.500'],
  sandbox: ['held', arch, 'M4.500 5.500V13M7 4.500V13M9.500 5.500V13'],
  refused: ['warn', '', 'M1.800 13V6.500a5.200 5.200 0 0 1 10.400 0V13zM5 6.500l4 4m0-4-4 4'],
  parked: ['bad', 'M1 1h12v12H1z', 'M5.300 4.500v5m3.400-5v5'],
  paused: ['bad', 'M1 1h12v12H1z', 'M5.300 4.500v5m3.400-5v5'],
  warning: ['warn', 'M7 .800 13.800 13H.200z', 'M7 5v4m0 2v.010'],
  validation_failed: ['warn', 'M7 .800 13.800 13H.200z', 'M7 5v4m0 2v.010'],
  suppressed: ['soft', '', 'M4 7h6', 'solid'],
  canceled: ['soft', '', 'M4 7h6', 'solid'],
  none: ['soft', '', '', 'solid'],
} as const satisfies Record<string, Shape>

export type MarkName = keyof typeof shapes

const shapeOf = (name: string): Shape => (Object.hasOwn(shapes, name) ? shapes[name as MarkName] : shapes.none)

const toneOf = (name: string): Tone => shapeOf(name)[0]

export function Mark({ name }: { readonly name: string }): JSX.Element {
  const [tone, filled, cut, ring] = shapeOf(name)
  const isCut = filled !== ''
  return (
    <svg class={`mark ${tone}`} viewBox="0 0 14 14" aria-hidden="true" focusable="false">
      {ring && (
        <circle
          cx="7"
          cy="7"
          r="5.7"
          fill="none"
          stroke="currentColor"
          stroke-width="1.500"
          stroke-dasharray={ring === 'dashed' ? '2.500 2' : undefined}
        />
      )}
      {isCut && <path d={filled} fill="currentColor" />}
      {cut !== '' && (
        <path
          d={cut}
          fill="none"
          stroke={isCut ? 'var(--sheet)' : 'currentColor'}
          stroke-width="1.500"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
      )}
    </svg>
  )
}

/** A status mark with the API name of the state. */
export const Status = ({ name }: { readonly name: string }): JSX.Element => (
  <span class="status">
    <Mark name={name} />
    {name.replaceAll('_', ' ')}
  </span>
)

export const StatusTag = ({ name, text = name.replaceAll('_', ' ') }: { readonly name: string; readonly text?: string }): JSX.Element => (
  <span class={`tag big ${toneOf(name)}`}>
    <Mark name={name} />
    {text}
  </span>
)

type PathTrace = Pick<TraceSummary, 'status' | 'outcome' | 'attempts' | 'recipients'>

/** Path of a send: acceptance, gate, attempts and result. The adjacent text states the same. */
export function Path({ trace }: { readonly trace: PathTrace }): JSX.Element {
  const { outcome, status } = trace
  const isOpen = outcome === 'relayed'
  const isRefused = outcome === 'refused'
  const tries = isOpen ? triesOf(trace) : []
  const lineEnd = 37 + tries.length * 6
  const width = isOpen ? lineEnd + 12 : 30
  return (
    <svg class="way" width={width} height="19" viewBox={`0 0 ${String(width)} 19`} aria-hidden="true" focusable="false">
      <title>{pathText(trace)}</title>
      <circle cx="4" cy="11" r="2.500" fill="var(--faint)" />
      <path d="M7 11h5" stroke="var(--line-strong)" stroke-width="1.500" />
      <path
        d={`M13.800 17V10a5.200 5.200 0 0 1 10.400 0v7${isOpen ? '' : 'z'}`}
        fill={isOpen || isRefused ? 'none' : 'var(--held)'}
        stroke={isRefused ? 'var(--warn)' : isOpen ? 'var(--faint)' : 'var(--held)'}
        stroke-width="1.500"
        stroke-linejoin="round"
      />
      {isRefused && <path d="m16.800 10.500 4.400 4.400m0-4.400-4.400 4.400" stroke="var(--warn)" stroke-width="1.500" />}
      {isOpen && <path d={`M15 11h${lineEnd - 15}`} stroke="var(--line-strong)" stroke-width="1.500" />}
      {tries.map((one, i) => (
        <rect
          key={i}
          x={31 + i * 6}
          y={one === 'taken' ? 7 : 11}
          width="3"
          height={one === 'taken' ? 8 : 4}
          fill={one === 'taken' ? 'var(--good)' : one === 'failed' ? 'var(--bad)' : 'var(--warn)'}
        />
      ))}
      {isOpen && <End status={status} x={lineEnd + 5} />}
    </svg>
  )
}

function triesOf({ attempts, status }: PathTrace): ('taken' | 'late' | 'failed')[] {
  const shown = Math.min(attempts, 5)
  const last = status === 'failed' ? 'failed' : status === 'queued' || status === 'pending' ? 'late' : 'taken'
  return Array.from({ length: shown }, (_, i) => (i === shown - 1 ? last : 'late'))
}

function End({ status, x }: { readonly status: string; readonly x: number }): JSX.Element {
  const tone = `var(--${toneOf(status) === 'soft' ? 'faint' : toneOf(status)})`
  if (status === 'delivered') return <circle cx={x} cy="11" r="4.500" fill={tone} />
  if (status === 'bounced' || status === 'failed') return <path d={`M${x} 5.500 ${x + 5.5} 11 ${x} 16.500 ${x - 5.5} 11z`} fill={tone} />
  if (status === 'complained') return <path d={`M${x - 4} 17V6h9l-2 3 2 3h-7.500v5z`} fill={tone} />
  if (status === 'suppressed' || status === 'canceled') return <path d={`M${x} 6v10`} stroke={tone} stroke-width="1.500" />
  return <circle cx={x} cy="11" r="4" fill="var(--sheet)" stroke={tone} stroke-width="1.500" />
}

const pathText = ({ outcome, attempts, status }: PathTrace): string =>
  `${outcome}, ${texts().attemptsMade({ count: attempts })}, ${status.replaceAll('_', ' ')}`
