/** Error texts of fields, in plain words that name the fix. A message in the schema has precedence. */
import * as z from 'zod'
import { nearName } from './near-name.ts'

/** Maximum number of fields in an error; further fields are not reported. */
export const maxProblems = 20

type RawIssue = z.core.$ZodRawIssue
type Branch = readonly z.core.$ZodIssue[]

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'null',
  undefined: 'nothing',
}

const formatTexts: Readonly<Record<string, string>> = {
  email: 'must be an email address',
  url: 'must be an absolute URL',
  uuid: 'must be a UUID',
  datetime: 'must be a time such as 2026-11-21T13:00:00Z',
  date: 'must be a date such as 2026-11-21',
  base64: 'must be base64',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
}

/**
 * The error map for zod. For unknown keys, returns one line for each of the first `maxProblems` keys, in their order. Returns an empty text
 * if the inner issues explain the problem better.
 */
export function problemText(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `expected ${typeName(issue.expected)}, got ${given(issue.input)}`
    case 'too_big':
      return `at most ${amount(issue.origin, issue.maximum, issue.inclusive !== false, -1)}`
    case 'too_small':
      return tooSmall(issue)
    case 'invalid_format':
      return formatTexts[issue.format] ?? 'has the wrong form'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${oneOf(issue.values)}`
    case 'unrecognized_keys':
      return unknownKeys(issue)
    case 'invalid_union':
      return unionText(issue)
    case 'invalid_key':
    case 'invalid_element':
      return ''
    default:
      return 'is invalid'
  }
}

function tooSmall(issue: Extract<RawIssue, { code: 'too_small' }>): string {
  const sized = issue.origin === 'string' || issue.origin === 'array'
  if (sized && Number(issue.minimum) === 1) return 'must not be empty'
  return `at least ${amount(issue.origin, issue.minimum, issue.inclusive !== false, 1)}`
}

function amount(origin: string, limit: number | bigint, inclusive: boolean, step: number): string {
  const value = inclusive ? limit : Number(limit) + step
  if (origin === 'string') return `${value} characters`
  return origin === 'array' || origin === 'set' || origin === 'map' ? `${value} entries` : `${value}`
}

function unknownKeys(issue: Extract<RawIssue, { code: 'unrecognized_keys' }>): string {
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : []
  return issue.keys
    .slice(0, maxProblems)
    .map((key) => {
      const near = nearName(key, known)
      return near === undefined ? 'is not a known field' : `is not a known field; did you mean ${near}?`
    })
    .join('\n')
}

/** If the input fits the type of no alternative, names the expected types; otherwise leaves the text to the closest alternative. */
function unionText(issue: Extract<RawIssue, { code: 'invalid_union' }>): string {
  if (issue.input === undefined) return 'is required'
  const branches = issue.errors as readonly Branch[]
  if (branches.length === 0) return Array.isArray(issue['options']) ? `must be ${oneOf(issue['options'])}` : 'is invalid'
  const expected = branches.map((branch) => {
    const first = branch[0]
    return branch.length === 1 && first?.code === 'invalid_type' && first.path.length === 0 ? typeName(first.expected) : undefined
  })
  if (expected.includes(undefined)) return ''
  return `expected ${[...new Set(expected)].join(' or ')}, got ${given(issue.input)}`
}

function oneOf(values: readonly unknown[]): string {
  if (values.length === 1) return String(values[0])
  const shown = values.slice(0, 20).map(String).join(', ')
  return `one of ${shown}${values.length > 20 ? ', …' : ''}`
}

function typeName(name: string): string {
  return typeNames[name] ?? name
}

function given(input: unknown): string {
  if (input === null) return 'null'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'number') return Number.isInteger(input) ? 'a number' : `${input}`
  return typeof input === 'boolean' ? String(input) : typeName(typeof input)
}
