/** Approximate lengths and numbers of style values, in CSS pixels. Only very small and very large values matter. */

const per: Readonly<Record<string, number>> = {
  ...{ '': 1, px: 1, pt: 4 / 3, pc: 16, in: 96, cm: 37.8, mm: 3.8, q: 0.95, rem: 16, vw: 8, vh: 6, vmin: 6, vmax: 8 },
  ...{ svw: 8, lvw: 8, dvw: 8, svh: 6, lvh: 6, dvh: 6, vi: 8, vb: 6 },
}
const perEm: Readonly<Record<string, number>> = { em: 1, ex: 0.5, ch: 0.5, cap: 0.7, ic: 1, lh: 1.2, '%': 0.01 }

/** Converts a length to pixels. Undefined if the text is not a single length, such as `auto` or `calc(…)`. Percentages refer to `em`. */
export function pixels(text: string, em = 16): number | undefined {
  const [, digits, unit = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*|%)$/.exec(text.trim()) ?? []
  if (digits === undefined) return undefined
  const factor = per[unit] ?? (perEm[unit] === undefined ? undefined : perEm[unit] * em)
  return factor === undefined ? undefined : Number(digits) * factor
}

/** Converts a number or percentage to a fraction; undefined for other text. */
export function share(text: string): number | undefined {
  const [, digits, percent] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)$/.exec(text.trim()) ?? []
  return digits === undefined ? undefined : Number(digits) / (percent === '%' ? 100 : 1)
}

/** Splits a value at white space outside of parentheses. */
export const partsOf = (value: string): string[] => value.match(/(?:[^\s()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? []

/** The functions in a value with their arguments, such as `translate(1px,2px)`. */
export const functionsIn = (value: string): (readonly [name: string, parts: readonly string[]])[] =>
  [...value.matchAll(/([a-z0-9-]+)\(((?:[^()]|\([^()]*\))*)\)/g)].map(
    ([, name = '', inside = '']) => [name, inside.split(/[\s,]+/).filter((part) => part !== '')] as const,
  )
