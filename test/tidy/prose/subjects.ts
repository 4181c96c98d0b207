/** The form of a commit subject: `area: imperative`, at most 72 characters. */
import { constructions } from './constructions.ts'

const maxLength = 72
/** Words that look like a verb in another form. */
const imperatives = new Set([
  'access',
  'address',
  'bring',
  'bypass',
  'embed',
  'express',
  'feed',
  'focus',
  'pass',
  'process',
  'seed',
  'string',
  'use',
])
const otherForm = /^(?:\w+ing|\w+ed|\w+[^s]s|an?|the|one|each|it|they|no|not|who|what|which|where|when)$/i

/** Returns the fault of a subject; undefined if its form is right. */
export function subjectFault(subject: string): string | undefined {
  const { area, first = '' } = /^(?<area>[a-z\d][\w ./-]*(?:, [\w ./-]+)*): (?<first>[\w-]+)/.exec(subject)?.groups ?? {}
  if (area === undefined) return 'write it as "area: imperative", such as "store: check blocks in the background"'
  if (subject.length > maxLength)
    return `has ${String(subject.length)} characters; at most ${String(maxLength)}, and the reason in the body`
  if (subject.endsWith('.')) return 'leave out the full stop'
  if (otherForm.test(first) && !imperatives.has(first))
    return `"${first}" is no imperative; begin with one, such as "add", "remove" or "refuse"`
  const found = constructions.find(({ pattern }) => subject.search(pattern) >= 0)
  return found && `has ${found.name}; ${found.instead}`
}
