/** Contrast check of a theme: the ratio of each color pair, and the nearest color that passes. */
import type { JSX } from 'preact'
import { contrast, onColor, paletteOf, passing, type Palette, type Shade } from '#core/forms/definition/contrast.ts'
import type { ColorName, Theme } from '#core/forms/definition/definition.ts'
import { mayChange } from '../app/permissions.ts'
import { Mark } from '../parts/mark.tsx'
import { decimal } from '../parts/time.ts'
import { texts } from './parts-texts.ts'

type PairName = keyof ReturnType<typeof texts>['pairs']

interface Pair {
  readonly name: PairName
  /** Color to change if the pair fails. */
  readonly color: ColorName
  readonly front: string
  readonly back: string
  readonly needed: number
}

function pairsOf({ primary, background, surface, text, muted, border, error }: Palette): readonly Pair[] {
  return [
    { name: 'text', color: 'text', front: text, back: background, needed: 4.5 },
    { name: 'textSurface', color: 'text', front: text, back: surface, needed: 4.5 },
    { name: 'muted', color: 'muted', front: muted, back: background, needed: 4.5 },
    { name: 'mutedSurface', color: 'muted', front: muted, back: surface, needed: 4.5 },
    { name: 'button', color: 'primary', front: onColor(primary), back: primary, needed: 4.5 },
    { name: 'primary', color: 'primary', front: primary, back: background, needed: 3 },
    { name: 'error', color: 'error', front: error, back: surface, needed: 4.5 },
    { name: 'border', color: 'border', front: border, back: surface, needed: 3 },
    { name: 'borderBackground', color: 'border', front: border, back: background, needed: 3 },
  ]
}

interface MeterProps {
  readonly theme: Theme
  readonly shade: Shade
  readonly onFix: (name: ColorName, color: string) => void
}

export function ContrastMeter({ theme, shade, onFix }: MeterProps): JSX.Element {
  const w = texts()
  const pairs = pairsOf(paletteOf(theme, shade)).map((pair) => ({ ...pair, ratio: contrast(pair.front, pair.back) }))
  const passed = pairs.filter(({ ratio, needed }) => ratio >= needed).length
  return (
    <section class="contrast-meter" aria-label={w.contrast} tabIndex={0}>
      <header>
        <h2>{w.contrast}</h2>
        <span class="status" role="status">
          <Mark name={passed === pairs.length ? 'ok' : 'warning'} />
          {w.passing({ pass: passed, all: pairs.length })}
        </span>
      </header>
      <ul>
        {pairs.map((pair) => (
          <Row key={pair.name} {...pair} onFix={onFix} />
        ))}
      </ul>
      <p class="faint">{w.contrastText}</p>
    </section>
  )
}

/** Logarithmic scale up to the maximum ratio of 21. */
const share = (ratio: number): number => (100 * Math.log(ratio)) / Math.log(21)

function Row({
  name,
  color,
  front,
  back,
  needed,
  ratio,
  onFix,
}: Pair & { readonly ratio: number; readonly onFix: MeterProps['onFix'] }): JSX.Element {
  const w = texts()
  const isPassing = ratio >= needed
  const better = passing(front, back, needed)
  return (
    <li class={isPassing ? '' : 'failing'}>
      <svg class="pair" viewBox="0 0 40 32" aria-hidden="true">
        <rect width="40" height="32" rx="4" fill={back} stroke="var(--line-strong)" />
        <text x="20" y="21" text-anchor="middle" fill={front}>
          Aa
        </text>
      </svg>
      <div>
        <p>
          {w.pairs[name]} <b>{decimal(Math.floor(ratio * 10) / 10, 1)}</b>
        </p>
        <svg class="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="back" width="100" height="4" rx="2" />
          <rect class={isPassing ? 'fill' : 'full'} width={share(ratio)} height="4" rx="2" />
          <rect class="tick" x={share(needed) - 0.5} width="1" height="4" />
        </svg>
        {!isPassing && (
          <p class="nearest">
            {w.needs({ ratio: decimal(needed, 0, 1), color: better })}
            {mayChange.value && (
              <button type="button" class="button small" aria-label={w.fixOf({ name: w.pairs[name] })} onClick={() => onFix(color, better)}>
                {w.fix}
              </button>
            )}
          </p>
        )}
      </div>
    </li>
  )
}
