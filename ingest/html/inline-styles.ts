/**
 * The inline CSS permitted in embedded messages: colors, fonts, spacing, borders and sizes. Patterns list every value, so that no style can
 * load content (`url()`, `image-set()`), run code, or move text (`position`, negative margins).
 */

const number = '[0-9]{0,6}(?:\\.[0-9]{1,6})?'
const length = `${number}(?:px|pt|pc|em|rem|ex|ch|in|cm|mm|%)?`
const color = '(?:#[0-9a-f]{3,8}|[a-z]{3,30}|(?:rgb|hsl)a?\\([0-9., %/]{1,60}\\))'
const lineStyle = '(?:none|hidden|solid|dashed|dotted|double|groove|ridge|inset|outset|thin|medium|thick)'

const only = (...choices: readonly string[]): RegExp => new RegExp(`^(?:${choices.join('|')})$`, 'i')
const upTo = (count: number, ...choices: readonly string[]): RegExp => {
  const one = `(?:${choices.join('|')})`
  return new RegExp(`^${one}(?: ${one}){0,${count - 1}}$`, 'i')
}

const colorValue = [only(color)]
const lengthValue = [only(length, 'auto', 'normal', 'none')]
const lengths = [upTo(4, length, 'auto')]
const border = [upTo(3, length, lineStyle, color)]
const keywords = [/^[a-z][a-z -]{0,60}$/i]

const everySide = (before: string, after: string, value: RegExp[]): [string, RegExp[]][] =>
  ['-top', '-right', '-bottom', '-left'].map((side) => [`${before}${side}${after}`, value])

/** Patterns of permitted values by property. Matching is linear in the length of the value. */
const allowed: ReadonlyMap<string, readonly RegExp[]> = new Map<string, readonly RegExp[]>([
  ...['color', 'background', 'background-color', 'border-color', 'text-decoration-color'].map((name) => [name, colorValue] as const),
  ...['width', 'min-width', 'max-width', 'height', 'min-height', 'max-height'].map((name) => [name, lengthValue] as const),
  ...['line-height', 'letter-spacing', 'word-spacing', 'text-indent'].map((name) => [name, lengthValue] as const),
  ['font-size', [only(length, '(?:xx?-)?(?:small|large)', 'medium', 'smaller', 'larger')]],
  ['font-family', [/^[\p{L}\p{N} ,'"_-]{1,300}$/u]],
  ['font-weight', [only('normal', 'bold', 'bolder', 'lighter', '[1-9]00')]],
  ...['font-style', 'font-variant', 'text-align', 'text-decoration', 'text-transform'].map((name) => [name, keywords] as const),
  ...['white-space', 'word-break', 'word-wrap', 'overflow-wrap', 'direction'].map((name) => [name, keywords] as const),
  ...['border-collapse', 'border-style', 'table-layout', 'box-sizing', 'list-style-type'].map((name) => [name, keywords] as const),
  ...['float', 'clear', 'overflow', 'visibility'].map((name) => [name, keywords] as const),
  ['vertical-align', [only(length, '[a-z-]{3,12}')]],
  ['display', [only('none', 'block', 'inline', 'inline-block', 'list-item', 'inline-table', 'table(?:-[a-z]{3,6}(?:-group)?)?')]],
  ['opacity', [only(number)]],
  ...['margin', 'padding', 'border-width', 'border-spacing', 'border-radius'].map((name) => [name, lengths] as const),
  ...everySide('margin', '', lengths),
  ...everySide('padding', '', lengths),
  ['border', border],
  ...everySide('border', '', border),
  ...everySide('border', '-color', colorValue),
  ...everySide('border', '-width', lengths),
  ...everySide('border', '-style', keywords),
])

/**
 * Returns the permitted declarations of a `style` attribute. A CSS parser is not necessary: no permitted value contains a semicolon or
 * colon. A wrongly split value matches no pattern and is removed.
 */
export function safeStyle(style: string): string {
  return style.split(';').flatMap(safeDeclaration).join(';')
}

function safeDeclaration(text: string): string[] {
  const colon = text.indexOf(':')
  const property = text.slice(0, Math.max(colon, 0)).trim().toLowerCase()
  const patterns = allowed.get(property)
  if (!patterns) return []
  const written = text.slice(colon + 1).trim()
  const important = written.toLowerCase().endsWith('!important')
  const value = (important ? written.slice(0, -'!important'.length) : written).trim().replaceAll(/\s+/g, ' ')
  return patterns.some((pattern) => pattern.test(value)) ? [`${property}:${value}${important ? ' !important' : ''}`] : []
}
