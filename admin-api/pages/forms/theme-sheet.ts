/** The theme of a form as a stylesheet. It only sets the properties that the structure stylesheet uses. */
import { hash } from 'node:crypto'
import { contrast, onColor, paletteOf, type Palette, type Shade } from '#core/forms/definition/contrast.ts'
import type { Theme } from '#core/forms/definition/definition.ts'

export interface ThemeSheet {
  /** `theme.{hash}.css`; the name changes with the content. */
  readonly file: string
  readonly css: string
}

const radii = { none: 0, sm: 4, md: 8, lg: 14, full: 999 } as const

const fonts = {
  system: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif',
  serif: '"Iowan Old Style", "Palatino Linotype", "URW Palladio L", P052, Georgia, serif',
  humanist: 'Seravek, "Gill Sans Nova", Ubuntu, Calibri, "Noto Sans", system-ui, sans-serif',
  rounded: 'ui-rounded, "Hiragino Maru Gothic ProN", Quicksand, "Arial Rounded MT Bold", Nunito, system-ui, sans-serif',
  mono: 'ui-monospace, "Cascadia Code", "JetBrains Mono", Menlo, Consolas, monospace',
} as const

const tracks = { system: '-0.024em', serif: '-0.012em', humanist: '-0.012em', rounded: '-0.02em', mono: '-0.034em' } as const

export function themeSheet(theme: Theme): ThemeSheet {
  const { mode, radius, font } = theme
  const shape = {
    radius: `${radii[radius]}px`,
    pad: radius === 'full' ? '20px' : '14px',
    font: fonts[font],
    display: radius === 'none' ? '800' : '700',
    track: radius === 'none' ? '-0.034em' : tracks[font],
  }
  const base = mode === 'dark' ? 'dark' : 'light'
  const dark = mode === 'auto' ? `@media (prefers-color-scheme: dark) {\n${rule(colorsOf(theme, 'dark'))}}\n` : ''
  const css = rule({ ...shape, ...colorsOf(theme, base) }) + dark
  return { file: `theme.${hash('sha256', css).slice(0, 16)}.css`, css }
}

const rule = (properties: Readonly<Record<string, string>>): string =>
  `:root,\n:host {\n${Object.entries(properties)
    .map(([name, value]) => `  --pf-${name}: ${value};\n`)
    .join('')}}\n`

/** Returns the colors of a shade, with derived colors. */
function colorsOf(theme: Theme, shade: Shade): Readonly<Record<string, string>> {
  const palette = paletteOf(theme, shade)
  const { surface, text, primary, error } = palette
  const isDark = contrast(surface, '#ffffff') > contrast(surface, '#000000')
  const [ring, gap] = isDark ? ['#ffffff', '#0b0b0c'] : ['#0b0b0c', '#ffffff']
  return {
    ...(palette satisfies Palette),
    'on-primary': onColor(primary),
    field: isDark ? mixed(text, surface, 0.04) : surface,
    line: mixed(text, surface, 0.13),
    tint: mixed(primary, surface, 0.07),
    'error-tint': mixed(error, surface, 0.06),
    ring,
    'ring-gap': gap,
    scheme: isDark ? 'dark' : 'light',
  }
}

/** Mixes a share of one color into another. */
function mixed(color: string, on: string, share: number): string {
  const part = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 2), 16)
  const parts = [1, 3, 5].map((at) => Math.round(part(on, at) + (part(color, at) - part(on, at)) * share))
  return `#${parts.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
