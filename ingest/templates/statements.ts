/** Translates templates with statements in `{% %}` (Brevo, MailerSend, Mailjet): variables, defaults, `if`, `for` and comments. */
import { NoCounterpart, shown, variable, withDefault, type Translation } from './translation.ts'

/** Differences between the services. */
export interface StatementDialect {
  /** Prefix of variable names, such as `params.`. Default: no prefix. */
  readonly prefix?: string
  /** Names that the service itself fills in. */
  readonly own: RegExp
}

interface Place {
  readonly at: number
  readonly isHtml: boolean
}

/** Translates a variable tag. */
export function printed(into: Translation, code: string, { at, isHtml }: Place, dialect: StatementDialect): void {
  into.step(at, () => {
    const [, name = code, fallback] =
      /^([\w.:-]+)\s*(?:\|\s*default\s*[:(]|:)\s*"([^"]*)"\s*\)?$/.exec(code) ??
      /^([\w.:-]+)\s*(?:\|\s*default\s*[:(]|:)\s*'([^']*)'\s*\)?$/.exec(code) ??
      []
    const path = pathOf(into, name, dialect)
    into.write(fallback === undefined ? `{{${path}}}` : withDefault(path, fallback, isHtml))
  })
}

/** Translates a statement tag. */
export function stated(into: Translation, code: string, at: number, dialect: StatementDialect): void {
  const [, word = '', rest = ''] = /^-?\s*(\w+)\s*(.*?)\s*-?$/s.exec(code) ?? []
  if (word === 'else' && rest === '') return into.otherwise(at)
  if (word === 'endif' || word === 'endfor') return into.close(word.slice(3), at)
  if (word === 'elif' || word === 'elseif') return void into.step(at, () => into.otherwise(at, pathOf(into, rest, dialect)))
  const isBlock = word === 'if' || word === 'for'
  const isDone = into.step(at, () => {
    const not = /^not\s+(\S+)$/.exec(rest)?.[1]
    const [, entry, list] = /^(\w+)\s+in\s+(\S+)$/.exec(rest) ?? []
    if (word === 'if' && not !== undefined) into.open({ kind: 'unless', name: 'if', at }, `{{if ${pathOf(into, not, dialect)}}}{{else}}`)
    else if (word === 'if') into.open({ kind: 'if', name: 'if', at }, `{{if ${pathOf(into, rest, dialect)}}}`)
    else if (word === 'for' && entry !== undefined && list !== undefined)
      into.open({ kind: 'each', name: 'for', at, entry }, `{{range ${pathOf(into, list, dialect)}}}`)
    else throw new NoCounterpart(`{% ${shown(code)} %} has no counterpart; only if, else and for with one variable are supported`)
  })
  if (!isDone && isBlock) into.open({ kind: 'lost', name: word, at }, '')
}

/** Translates a path: the entry of the innermost loop by its name, or a variable. */
function pathOf(into: Translation, code: string, { prefix = '', own }: StatementDialect): string {
  const { loops } = into
  const [first = '', ...others] = code.split('.')
  const at = loops.findLastIndex(({ entry }) => entry === first)
  if (at >= 0 && at === loops.length - 1) return others.length === 0 ? '.' : variable(others.join('.'), false)
  if (at >= 0) throw new NoCounterpart(`${shown(code)} refers to an outer loop; use the innermost entry or a top-level variable`)
  if (!code.startsWith(prefix) || own.test(code))
    throw new NoCounterpart(`${shown(code)} is not a variable of the send; pass it as a variable`)
  return variable(code.slice(prefix.length), loops.length > 0)
}
