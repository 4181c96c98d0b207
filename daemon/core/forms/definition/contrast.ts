/** Checks the contrast of theme colors (WCAG 2.2, 1.4.3 and 1.4.11), and proposes a passing color for each failing color. */
import { colorNames, type ColorName, type Theme } from './definition.ts'

export interface ContrastWarning {
  readonly path: string
  readonly code: 'low_contrast'
  readonly message: string
  readonly ratio: number
  readonly required: number
  /** The passing color that is closest to the given color. */
  readonly proposed: string
}

export type Palette = Readonly<Record<ColorName, string>>
export type Shade = 'light' | 'dark'

export const defaultPalettes: Readonly<Record<Shade, Palette>> = {
  light: {
    ...{ primary: '#2b45c4', background: '#efefea', surface: '#ffffff', text: '#16191d', muted: '#545b64', border: '#7e8690' },
    error: '#b3261e',
  },
  dark: {
    ...{ primary: '#a9b8ff', background: '#0d0f13', surface: '#15181d', text: '#ecedef', muted: '#a4abb6', border: '#727b89' },
    error: '#ff9e93',
  },
}

/** Returns the effective colors. A dark palette without a primary color uses the light one, lightened to text contrast. */
export function paletteOf({ colors, dark_colors: dark }: Pick<Theme, 'colors' | 'dark_colors'>, shade: Shade): Palette {
  if (shade === 'light') return { ...defaultPalettes.light, ...colors }
  const palette = { ...defaultPalettes.dark, ...dark }
  const { primary } = colors
  if (dark.primary !== undefined || primary === undefined) return palette
  return { ...palette, primary: contrast(primary, palette.surface) >= 4.5 ? primary : passing(primary, palette.surface, 4.5) }
}

type Rgb = readonly [number, number, number]

const rgbOf = (color: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb
const hexOf = (rgb: Rgb): string => `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = rgbOf(color).map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast ratio, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

/** Returns black or white: the color with more contrast. */
export const onColor = (color: string): string => (contrast(color, '#000000') >= contrast(color, '#ffffff') ? '#000000' : '#ffffff')

/** Mixes the color with black or white until it reaches the required contrast. */
export function passing(color: string, against: string, required: number): string {
  const end = rgbOf(onColor(against))
  const start = rgbOf(color)
  const mixed = (share: number): string => hexOf(start.map((part, at) => part + ((end[at] ?? 0) - part) * share) as unknown as Rgb)
  for (let percent = 1; percent < 100; percent++) if (contrast(mixed(percent / 100), against) >= required) return mixed(percent / 100)
  return hexOf(end)
}

/** Required contrast of colors with the background. */
const needed: readonly (readonly [name: ColorName, ratio: number, what: string])[] = [
  ['text', 4.5, 'text'],
  ['muted', 4.5, 'help texts'],
  ['error', 4.5, 'error messages'],
  ['primary', 3, 'buttons and the mark of the focus'],
  ['border', 3, 'the borders of fields'],
]

/** Returns warnings for low contrast in the theme's light and dark colors. */
export function contrastWarnings(theme: Pick<Theme, 'mode' | 'colors' | 'dark_colors'>): readonly ContrastWarning[] {
  const shades: readonly Shade[] = theme.mode === 'auto' ? ['light', 'dark'] : [theme.mode]
  return shades.flatMap((shade) => {
    const palette = paletteOf(theme, shade)
    return needed.flatMap(([name, required, what]) => {
      const ratio = contrast(palette[name], palette.background)
      if (ratio >= required) return []
      const message = `The contrast of ${what} is ${ratio.toFixed(2)} to 1 in the ${shade} colours; it should be at least ${required} to 1.`
      const path = `theme.${shade === 'light' ? 'colors' : 'dark_colors'}.${name}`
      const shown = Math.floor(ratio * 100) / 100
      return [
        { path, code: 'low_contrast', message, ratio: shown, required, proposed: passing(palette[name], palette.background, required) },
      ]
    })
  })
}

export const isColorName = (name: string): name is ColorName => (colorNames as readonly string[]).includes(name)
