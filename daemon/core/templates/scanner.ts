/**
 * Splits a template into text and actions, in one pass. `{{-` and `-}}` remove the adjacent white space. Actions that begin with a slash
 * and a star are comments.
 */
import { TemplateFault } from './template-fault.ts'

export type Token = TextToken | ActionToken

interface TextToken {
  readonly kind: 'text'
  readonly text: string
}

/** Code between braces, without trim markers and surrounding blanks. */
interface ActionToken {
  readonly kind: 'action'
  readonly code: string
  /** Offset of the code, or of the opening braces without code. */
  readonly at: number
}

/** One pair of braces. */
interface Braces {
  readonly action: ActionToken | undefined
  readonly trimsBefore: boolean
  readonly trimsAfter: boolean
  readonly end: number
}

/** Throws a fault for unclosed braces or comments. */
export function* scan(source: string): Iterable<Token> {
  let trims = false
  for (let at = 0; at < source.length;) {
    const open = source.indexOf('{{', at)
    const braces = open < 0 ? undefined : readBraces(source, open)
    const start = trims ? skipBlanks(source, at) : at
    const end = open < 0 ? source.length : open
    const text = source.slice(start, braces?.trimsBefore ? skipBlanksBack(source, end, start) : Math.max(start, end))
    if (text !== '') yield { kind: 'text', text }
    if (!braces) return
    if (braces.action) yield braces.action
    trims = braces.trimsAfter
    at = braces.end
  }
}

function readBraces(source: string, open: number): Braces {
  const trimsBefore = source[open + 2] === '-'
  const inside = open + (trimsBefore ? 3 : 2)
  const start = skipBlanks(source, inside)
  if (source.startsWith('/*', start)) return readComment(source, open, start, trimsBefore)
  const close = source.indexOf('}}', inside)
  if (close < 0) throw new TemplateFault('{{ is never closed; end it with }}', open)
  const trimsAfter = close > inside && source[close - 1] === '-'
  const code = source.slice(start, trimsAfter ? close - 1 : close).trim()
  return { action: { kind: 'action', code, at: code === '' ? open : start }, trimsBefore, trimsAfter, end: close + 2 }
}

function readComment(source: string, open: number, start: number, trimsBefore: boolean): Braces {
  const close = source.indexOf('*/', start + 2)
  if (close < 0) throw new TemplateFault('the comment is never closed; end it with */}}', open)
  let end = skipBlanks(source, close + 2)
  const trimsAfter = source[end] === '-'
  if (trimsAfter) end++
  if (!source.startsWith('}}', end)) throw new TemplateFault('nothing may follow in the braces of a comment; end it with */}}', close)
  return { action: undefined, trimsBefore, trimsAfter, end: end + 2 }
}

const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\n' || char === '\r'

function skipBlanks(source: string, from: number): number {
  let at = from
  while (isBlank(source[at])) at++
  return at
}

function skipBlanksBack(source: string, from: number, least: number): number {
  let at = Math.max(from, least)
  while (at > least && isBlank(source[at - 1])) at--
  return at
}
