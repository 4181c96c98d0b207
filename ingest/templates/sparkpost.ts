/** Translates the template language of SparkPost: variables, defaults with `or`, `if`, `each` with `loop_var`. */
import { NoCounterpart, shown, variable, withDefault, type Translation } from './translation.ts'
import type { HandlebarsToken } from './handlebars.ts'

/** Translates one tag. */
export function sparkpost(into: Translation, { code, isRaw, at, isHtml }: HandlebarsToken): void {
  const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(code) ?? []
  if (word === 'end') return into.close(undefined, at)
  if (code === 'else') return into.otherwise(at)
  const further = word === 'elseif' ? rest : /^if\s+(.*)$/s.exec(word === 'else' ? rest : '')?.[1]
  if (further !== undefined) return void into.step(at, () => into.otherwise(at, pathOf(into, further)))
  const isBlock = word === 'if' || word === 'each'
  const isDone = into.step(at, () => {
    if (word === 'if') return into.open({ kind: 'if', name: 'if', at }, `{{if ${pathOf(into, rest)}}}`)
    if (word === 'each') return into.open({ kind: 'each', name: 'each', at }, `{{range ${pathOf(into, rest)}}}`)
    if (isRaw && isHtml) throw new NoCounterpart(`${shown(code)} inserts raw HTML, but values are always escaped; use two braces`)
    const [, name = code, , fallback] = /^(\S+)\s+or\s+(["'])(.*)\2$/s.exec(code) ?? []
    into.write(fallback === undefined ? `{{${pathOf(into, name)}}}` : withDefault(pathOf(into, name), fallback, isHtml))
  })
  if (!isDone && isBlock) into.open({ kind: 'lost', name: word, at }, '')
}

function pathOf(into: Translation, code: string): string {
  if (/[\s("'=<>]/.test(code)) throw new NoCounterpart(`${shown(code)} has no counterpart; only a single variable is allowed here`)
  const { loops } = into
  if (code === 'loop_var') return '.'
  if (code.startsWith('loop_var.')) return variable(code.slice(9), false)
  if (/^(?:loop_vars|loop_index|dynamic_html|dynamic_plain|links)(?:\.|$)/.test(code))
    throw new NoCounterpart(`${shown(code)} has no counterpart`)
  return variable(code, loops.length > 0)
}
