/** Translates the Handlebars dialect of SendGrid, Mailgun, Amazon SES and Postmark: variables, `if`, `unless`, `each` and comments. */
import { NoCounterpart, shown, variable, withDefault, type Translation } from './translation.ts'

export interface HandlebarsToken {
  readonly code: string
  readonly isRaw: boolean
  readonly at: number
  readonly isHtml: boolean
}

/** Translates one tag. */
export function handlebars(into: Translation, { code: given, isRaw, at, isHtml }: HandlebarsToken): void {
  const [, before = '', code = '', after = ''] = /^(~?)\s*(.*?)\s*(~?)$/s.exec(given) ?? []
  if (code.startsWith('!')) return
  const trims = (action: string): string => `{{${before === '' ? '' : '- '}${action}${after === '' ? '' : ' -'}}}`
  const [, sign = '', word = '', rest = ''] = /^([#/^>&]?)\s*([^\s]*)\s*(.*)$/s.exec(code) ?? []
  if (sign === '>') return into.problem(`{{> ${shown(word)}}}: partials have no counterpart; insert the text of the partial`, at)
  if (sign === '/') return into.close(word === '' ? undefined : word, at)
  if (sign === '#') return opened(into, word, rest, at, trims)
  if (sign === '^' && word === '') return into.otherwise(at)
  if (sign === '^') return inverted(into, word, `${word} ${rest}`.trim(), at, trims)
  if (code === 'else') return into.otherwise(at)
  into.step(at, () => {
    if (word === 'else') return into.otherwise(at, pathOf(into, /^if\s+(.*)$/s.exec(rest)?.[1] ?? code))
    if ((isRaw || sign === '&') && isHtml)
      throw new NoCounterpart(`${shown(code)} inserts raw HTML, but values are always escaped; use two braces`)
    const fallback = /^"default=([^"]*)"$/.exec(/^(\S+)\s+(".*")$/s.exec(rest)?.[2] ?? '')?.[1]
    if (word === 'insert' && rest !== '') {
      const path = pathOf(into, /^\S+/.exec(rest)?.[0] ?? '')
      if (fallback === undefined && /\s/.test(rest)) throw new NoCounterpart(`${shown(code)} has no counterpart`)
      into.write(fallback === undefined ? trims(path) : withDefault(path, fallback, isHtml))
    } else into.write(trims(pathOf(into, sign === '&' ? `${word} ${rest}`.trim() : code)))
  })
}

type Trims = (action: string) => string

function opened(into: Translation, word: string, rest: string, at: number, trims: Trims): void {
  const lost = { kind: 'lost', name: word, at } as const
  const [, list = rest, entry] = /^(\S+)\s+as\s+\|\s*(\w+)[\w\s]*\|$/.exec(rest) ?? []
  const isDone = into.step(at, () => {
    if (word === 'if') into.open({ kind: 'if', name: word, at }, trims(`if ${pathOf(into, rest)}`))
    else if (word === 'unless') into.open({ kind: 'unless', name: word, at }, `${trims(`if ${pathOf(into, rest)}`)}{{else}}`)
    else if (word === 'each') into.open({ kind: 'each', name: word, at, entry }, trims(`range ${pathOf(into, list)}`))
    else if (rest === '') throw new NoCounterpart(`{{#${shown(word)}}} can be a condition or a loop; write {{#if}} or {{#each}}`)
    else throw new NoCounterpart(`the helper ${shown(word)} has no counterpart; compute the value before sending and pass it as a variable`)
  })
  if (!isDone) into.open(lost, '')
}

function inverted(into: Translation, name: string, code: string, at: number, trims: Trims): void {
  const isDone = into.step(at, () => into.open({ kind: 'unless', name, at }, `${trims(`if ${pathOf(into, code)}`)}{{else}}`))
  if (!isDone) into.open({ kind: 'lost', name, at }, '')
}

/** Translates a path to a variable. Inside a loop it belongs to the entry; `@root` and `../` lead to the variables outside. */
function pathOf(into: Translation, code: string): string {
  if (/[\s("'=|]/.test(code))
    throw new NoCounterpart(`${shown(code)} has no counterpart; only a variable without functions is allowed here`)
  const { loops } = into
  const [, ups = '', name = ''] = /^((?:\.\.\/)*)(.*)$/s.exec(code) ?? []
  const up = ups.length / 3
  if (name.startsWith('@root.')) return variable(name.slice(6), true)
  if (name.startsWith('@')) throw new NoCounterpart(`${shown(name)} has no counterpart`)
  if (up > 0 && up !== loops.length)
    throw new NoCounterpart(`${shown(code)} refers to an outer loop; use the innermost entry or a top-level variable`)
  const own = name.replace(/^this(?:[./]|$)/, '').replace(/^\.\/?/, '')
  const [first, ...others] = own.split('.')
  const at = loops.findLastIndex(({ entry }) => entry !== undefined && entry === first)
  if (at >= 0) {
    if (at < loops.length - 1)
      throw new NoCounterpart(`${shown(code)} refers to an outer loop; use the innermost entry or a top-level variable`)
    return others.length === 0 ? '.' : variable(others.join('.'), false)
  }
  if (own === '' && loops.length > 0 && up === 0) return '.'
  const isNamed = loops.some(({ entry }) => entry !== undefined)
  return variable(own, up > 0 || (isNamed && loops.length > 0))
}
