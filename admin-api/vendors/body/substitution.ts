/** Replaces variables of a recipient in the bodies of a message without a template. */
import { escapeHtml, onOneLine } from '#core/templates/renderer.ts'
import { invalid } from '#core/refusals.ts'

/** Values by variable name. */
export type Variables = Readonly<Record<string, unknown>>

/** Syntax of markers. The first group of the pattern is the variable name, and the second an optional default. */
export interface Syntax {
  readonly pattern: RegExp
  /** Whether the value is inserted in HTML without escaping. */
  readonly isRaw?: (marker: string) => boolean
  /** A text without any of these contains no markers. */
  readonly openings: readonly string[]
  /**
   * Matches other template syntax that would be visible in the mail: conditions, loops, filters. It is searched in the text without its
   * variables.
   */
  readonly beyond: RegExp
}

/** Openings of variables and other template syntax in most services. */
export const inBraces = { openings: ['{{', '{%'], beyond: /\{\{|\{%/ } as const

/** `{{name}}`, and `{{{name}}}` for HTML without escaping. */
export const mustache: Syntax = {
  pattern: /\{{2,3} {0,20}([\w.-]{1,100}) {0,20}\}{2,3}/g,
  isRaw: (marker) => marker.startsWith('{{{'),
  ...inBraces,
}

/** Bodies of a message with the values of one recipient. Markers without a value are removed, as in other services. */
export interface Bodies {
  readonly subject?: string | null | undefined
  readonly text?: string | null | undefined
  readonly html?: string | null | undefined
}

/** Limit of a text with variables, before and after replacement. */
const maxFilled = 2_097_152

/** Returns a function that counts inserted characters. Throws `validation_failed` with the path if they exceed the limit. */
function roomFor(path: string): (value: string) => string {
  let left = maxFilled
  return (value) => {
    left -= value.length
    if (left < 0)
      throw invalid([
        { path, message: `must have at most ${String(maxFilled)} characters with its variables filled in; use shorter values` },
      ])
    return value
  }
}

/** Returns the value of a variable; `fallback` is the default in the marker. */
export type ValueOf = (name: string, fallback?: string) => string | undefined

/** Fills in the bodies. Throws `validation_failed` for template syntax that is not supported here. */
export function filledIn({ subject, text, html }: Bodies, syntax: Syntax, valueOf: ValueOf): Bodies {
  return {
    subject: filledLine('subject', subject, syntax, valueOf),
    text: filled('text', text, syntax, valueOf),
    html: filled('html', html, syntax, valueOf, true),
  }
}

/** Fills in a header field. Replaces line breaks and other control characters by spaces. Throws `validation_failed` with the path. */
export function filledLine<T extends string | null | undefined>(path: string, given: T, syntax: Syntax, valueOf: ValueOf): T | string {
  const text = filled(path, given, syntax, valueOf)
  return typeof text === 'string' ? onOneLine(text) : given
}

/** Fills in a text. Throws `validation_failed` with the path. */
export function filled(path: string, given: string | null | undefined, syntax: Syntax, valueOf: ValueOf, isHtml = false): typeof given {
  const { pattern, isRaw, openings, beyond } = syntax
  if (!given || !openings.some((opening) => given.includes(opening))) return given
  if (given.length > maxFilled)
    throw invalid([{ path, message: `must have at most ${String(maxFilled)} characters if it has variables; use a template` }])
  if (beyond.test(given.replaceAll(pattern, '')))
    throw invalid([{ path, message: 'contains conditions, loops or filters in braces; use a template for them' }])
  const counted = roomFor(path)
  return given.replaceAll(pattern, (marker, name: string | undefined, fallback: unknown) => {
    const value = valueOf(name ?? '', typeof fallback === 'string' ? fallback : undefined) ?? ''
    return counted(isHtml && !isRaw?.(marker) ? escapeHtml(value) : value)
  })
}

/** Returns the value of a dotted name; undefined unless it is a text, number or boolean. */
export function valueAt(variables: Variables, path: string): string | undefined {
  let value: unknown = variables
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Variables)[name]
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** Limits of the marks of one message. */
const maxMarks = 100
const maxMark = 48
/** Size limit of a body with marks. */
const maxSearched = 262_144
/**
 * Limit of character comparisons for all marks of a message. Ordinary bodies need little more than their length, since few positions begin
 * like a mark.
 */
const maxLooks = 1_000_000

/** Fills in variables inside JSON text, with escaping. Throws `validation_failed` with the path. */
export function filledJson(path: string, given: string, { pattern }: Syntax, valueOf: ValueOf): string {
  const counted = roomFor(path)
  return given.replaceAll(pattern, (_, name: string | undefined) => counted(JSON.stringify(valueOf(name ?? '') ?? '').slice(1, -1)))
}

/** Replaces literal marks; the longest match wins. Inserted values are not searched again. Throws `validation_failed`. */
export function replacedLiterally({ subject, text, html }: Bodies, values: Readonly<Record<string, string>>, path: string): Bodies {
  const marks = Object.entries(values).filter(([mark]) => mark !== '')
  if (marks.length === 0) return { subject, text, html }
  const fault = (message: string) => invalid([{ path, message }])
  if (marks.length > maxMarks || marks.some(([mark]) => mark.length > maxMark))
    throw fault(`at most ${String(maxMarks)} entries, each with at most ${String(maxMark)} characters`)
  if ([text, html].some((body) => (body?.length ?? 0) > maxSearched))
    throw fault(`require bodies of at most ${String(maxSearched)} characters`)
  const trie = trieOf(marks)
  const looks = { left: maxLooks }
  const fill = (given: string | null | undefined) => (given ? replaced(given, trie, looks, roomFor(path)) : given)
  const line = fill(subject)
  const bodies = { subject: line && onOneLine(line), text: fill(text), html: fill(html) }
  if (looks.left < 0) throw fault('begin like too much of the text; use marks whose first characters are rare in it, such as %name%')
  return bodies
}

interface Trie {
  value?: string
  readonly next: Map<string, Trie>
}

function trieOf(marks: readonly (readonly [string, string])[]): Trie {
  const root: Trie = { next: new Map() }
  for (const [mark, value] of marks) {
    let node = root
    for (const letter of mark.split('')) {
      const next: Trie = node.next.get(letter) ?? { next: new Map() }
      node.next.set(letter, next)
      node = next
    }
    node.value = value
  }
  return root
}

/** Stops at the limit of comparisons. */
function replaced(given: string, root: Trie, looks: { left: number }, counted: (value: string) => string): string {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < given.length && looks.left >= 0; at++) {
    let found: readonly [string, number] | undefined
    let node: Trie | undefined = root
    for (let end = at; looks.left-- >= 0 && (node = node.next.get(given[end] ?? '')); end++)
      if (node.value !== undefined) found = [node.value, end]
    if (!found) continue
    parts.push(given.slice(start, at), counted(found[0]))
    at = found[1]
    start = at + 1
  }
  return [...parts, given.slice(start)].join('')
}
