/** Variables of a recipient in the bodies themselves, where no template is named. */
import { escapeHtml, onOneLine } from '#core/templates/renderer.ts'
import { invalid } from '#core/refusals.ts'

/** Values by their names. */
export type Variables = Readonly<Record<string, unknown>>

/** A marker in a text: the whole of it as first group, then the name of the variable, and a default where the syntax has one. */
export interface Syntax {
  readonly pattern: RegExp
  /** Whether a value stands in HTML as it is given. */
  readonly isRaw?: (marker: string) => boolean
  /** A text without any of these has nothing in it that the service looks at. */
  readonly openings: readonly string[]
  /**
   * What would be left visible in a mail beside the variables: conditions, loops, filters. Looked for in the text without its
   * variables.
   */
  readonly beyond: RegExp
}

/** What opens variables, and all else of a template, in most services. */
export const inBraces = { openings: ['{{', '{%'], beyond: /\{\{|\{%/ } as const

/** `{{name}}`, and `{{{name}}}` for HTML as it is. */
export const mustache: Syntax = {
  pattern: /\{{2,3} {0,20}([\w.-]{1,100}) {0,20}\}{2,3}/g,
  isRaw: (marker) => marker.startsWith('{{{'),
  ...inBraces,
}

/** The bodies of a message with the values of one recipient. What has no value is left out, as other services do. */
export interface Bodies {
  readonly subject?: string | null | undefined
  readonly text?: string | null | undefined
  readonly html?: string | null | undefined
}

/** Of a text in which variables stand, before and after. */
const maxFilled = 2_097_152

/** Counts what a text becomes. Throws `validation_failed` with the path before it is more than fits. */
function roomFor(path: string): (value: string) => string {
  let left = maxFilled
  return (value) => {
    left -= value.length
    if (left < 0)
      throw invalid([{ path, message: `has at most ${String(maxFilled)} characters with its variables filled in; use shorter values` }])
    return value
  }
}

/** The value of a variable; `fallback` is the default that stands in the marker. */
export type ValueOf = (name: string, fallback?: string) => string | undefined

/** Throws `validation_failed` for what the syntax cannot say here. */
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
    throw invalid([{ path, message: `has variables, and may have at most ${String(maxFilled)} characters; use a template` }])
  if (beyond.test(given.replaceAll(pattern, '')))
    throw invalid([{ path, message: 'has more than variables in braces; use a template for conditions and loops' }])
  const counted = roomFor(path)
  return given.replaceAll(pattern, (marker, name: string | undefined, fallback: unknown) => {
    const value = valueOf(name ?? '', typeof fallback === 'string' ? fallback : undefined) ?? ''
    return counted(isHtml && !isRaw?.(marker) ? escapeHtml(value) : value)
  })
}

/** The value under a name with dots; undefined for what is no text, number or truth value. */
export function valueAt(variables: Variables, path: string): string | undefined {
  let value: unknown = variables
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Variables)[name]
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** Of one message. */
const maxMarks = 100
const maxMark = 48
/** Of a text in which they are looked for. */
const maxSearched = 262_144
/** Characters looked at for all marks of a message; ordinary bodies need hardly more than they have, as few places begin like a mark. */
const maxLooks = 1_000_000

/** The value as it stands within JSON, where a text of it has variables. Throws `validation_failed` with the path. */
export function filledJson(path: string, given: string, { pattern }: Syntax, valueOf: ValueOf): string {
  const counted = roomFor(path)
  return given.replaceAll(pattern, (_, name: string | undefined) => counted(JSON.stringify(valueOf(name ?? '') ?? '').slice(1, -1)))
}

/** Texts that stand for others, the longest that fits; what was put in is not looked at again. Throws `validation_failed`. */
export function replacedLiterally({ subject, text, html }: Bodies, values: Readonly<Record<string, string>>, path: string): Bodies {
  const marks = Object.entries(values).filter(([mark]) => mark !== '')
  if (marks.length === 0) return { subject, text, html }
  const fault = (message: string) => invalid([{ path, message }])
  if (marks.length > maxMarks || marks.some(([mark]) => mark.length > maxMark))
    throw fault(`at most ${String(maxMarks)} of at most ${String(maxMark)} characters`)
  if ([text, html].some((body) => (body?.length ?? 0) > maxSearched))
    throw fault(`are replaced in bodies of at most ${String(maxSearched)} characters`)
  const trie = trieOf(marks)
  const looks = { left: maxLooks }
  const fill = (given: string | null | undefined) => (given ? replaced(given, trie, looks, roomFor(path)) : given)
  const line = fill(subject)
  const bodies = { subject: line && onOneLine(line), text: fill(text), html: fill(html) }
  if (looks.left < 0) throw fault('look too much like the text around them; give them marks that stand nowhere else')
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

/** Gives up when no looks are left. */
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
