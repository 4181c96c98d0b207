/** Generated API types match the OpenAPI document, shortcuts are unique, and colors have enough contrast. */
import { readFileSync } from 'node:fs'
import test from '#test'
import { wireTypes } from '../../../admin-api/dashboard/wire-types.ts'

const client = new URL('../../../admin-api/dashboard/client/', import.meta.url)

test('wire types: generated files are current', (t) => {
  for (const [name, text] of Object.entries(wireTypes()))
    t.is(readFileSync(new URL(`wire/${name}`, client), 'utf8'), text, 'run npm run generate')
})

test('shortcuts: each screen has a unique key', (t) => {
  const files = ['screen-list', 'settings-screens'].map((name) => readFileSync(new URL(`screens/${name}.ts`, client), 'utf8'))
  const keys = [...files.join('').matchAll(/\bkey: '([\w,])'/g)].map(([, key]) => key)
  t.true(keys.length > 10)
  t.deepEqual(
    keys.filter((key, i) => keys.indexOf(key) !== i),
    [],
  )
})

const luminance = (hex: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other)
  return (light + 0.05) / (dark + 0.05)
}

const styles = readFileSync(new URL('../../../admin-api/pages/assets/colors.css', import.meta.url), 'utf8')

const tokensOf = (theme: 'light' | 'dark'): ReadonlyMap<string, string> =>
  new Map(
    [...styles.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(([, name = '', light = '', dark = '']) => [
      name,
      theme === 'light' ? light : dark,
    ]),
  )

for (const theme of ['light', 'dark'] as const)
  test(`colors: contrast of 4.5 for text and 3 for outlines, ${theme}`, (t) => {
    const tokens = tokensOf(theme)
    const of = (name: string): string => tokens.get(name) ?? t.fail(name) ?? ''
    const texts = ['ink', 'soft', 'faint'].flatMap((text) =>
      ['sheet', 'ground', 'wash', 'sunken', 'raised'].map((on) => [text, on] as const),
    )
    const tones = ['good', 'held', 'sent', 'warn', 'bad'].flatMap(
      (tone) =>
        [
          [tone, 'sheet'],
          [tone, `${tone}-wash`],
        ] as const,
    )
    for (const [text, on] of [
      ...texts,
      ...tones,
      ['accent', 'sheet'],
      ['accent', 'ground'],
      ['on-accent', 'accent'],
      ['ink', 'hover'],
    ] as const)
      t.true(contrast(of(text), of(on)) >= 4.5, `${text} on ${on}`)
    for (const [edge, on] of [
      ['edge', 'sheet'],
      ['edge', 'ground'],
      ['p-relayed', 'sheet'],
      ['p-refused', 'sheet'],
      ['p-bad', 'sheet'],
    ] as const)
      t.true(contrast(of(edge), of(on)) >= 3, `${edge} on ${on}`)
  })
