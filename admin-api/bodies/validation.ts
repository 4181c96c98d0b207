/** Validates input against a schema, and converts the issues of zod to the refusal `validation_failed` with a text for each field. */
import type * as z from 'zod'
import { invalid, type FieldProblem, type Refusal } from '#core/refusals.ts'
import { withoutRefusedNulls } from './null-fields.ts'
import { maxProblems, problemText } from './validation-texts.ts'

export type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

const parseOptions = { error: problemText }

/** Adds problems found by the core to the refusal of a body. */
export function withMore(refusal: Refusal, more: readonly FieldProblem[]): Refusal {
  const { fields = [] } = (refusal.details ?? {}) as { fields?: readonly FieldProblem[] }
  const others = more.filter(({ path }) => !fields.some((field) => field.path === path))
  return others.length === 0 ? refusal : invalid([...fields, ...others].slice(0, maxProblems))
}

/**
 * Returns the validated value without optional fields that are null. Throws `validation_failed` naming up to twenty fields under `where`.
 */
export function check<S extends z.ZodType>(schema: S, value: unknown, where: 'body' | 'query' | 'path'): z.output<S> {
  const result = parsed(schema, value, where)
  if (result.success) return result.data
  // An unknown field often explains a missing field, so unknown fields come first.
  const isUnknown = ({ code }: Issue): number => (code === 'unrecognized_keys' ? 1 : 0)
  const issues = result.error.issues.toSorted((a, b) => isUnknown(b) - isUnknown(a))
  const problems = issues.flatMap((issue) => toProblems(issue, [], where))
  throw invalid(problems.slice(0, maxProblems))
}

/** Returns up to twenty problems with the texts of `check`, for issues that another schema found in the value. */
export const problemsOf = (issues: readonly Issue[], value: unknown, where: string): readonly FieldProblem[] =>
  issues
    .slice(0, maxProblems)
    .flatMap((issue) => toProblems(withOwnText(issue, value), [], where))
    .slice(0, maxProblems)

function withOwnText(issue: Issue, value: unknown): Issue {
  const input = issue.path.reduce((at: unknown, key) => (Object(at) as Readonly<Record<PropertyKey, unknown>>)[key], value)
  const errors = issue.code === 'invalid_union' && { errors: issue.errors.map((branch) => branch.map((one) => withOwnText(one, input))) }
  const whole = { ...issue, ...errors, input } as Issue
  return { ...whole, message: problemText(whole as z.core.$ZodRawIssue) }
}

/** Maximum rounds of removing nulls: an alternative can hide the nulls of nested values. */
const maxNullRounds = 4

function parsed<S extends z.ZodType>(schema: S, value: unknown, where: string): z.ZodSafeParseResult<z.output<S>> {
  let result = schema.safeParse(value, parseOptions)
  if (where !== 'body') return result
  let left = value
  for (let round = 0; round < maxNullRounds && !result.success; round++) {
    left = withoutRefusedNulls(left, result.error.issues)
    if (left === undefined) break
    result = schema.safeParse(left, parseOptions)
  }
  return result
}

function toProblems(issue: Issue, parents: Path, where: string): FieldProblem[] {
  const path = [...parents, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const messages = issue.message.split('\n')
    return issue.keys.map((key, i) => ({ path: fieldPath([...path, key], where), message: messages[i] ?? messages[0] ?? issue.message }))
  }
  if (issue.message !== '') return [{ path: fieldPath(path, where), message: issue.message }]
  if (issue.code === 'invalid_union') return closestBranch(issue.errors).flatMap((inner) => toProblems(inner, path, where))
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element')
    return issue.issues.flatMap((inner) => toProblems(inner, path, where))
  return [{ path: fieldPath(path, where), message: 'is invalid' }]
}

/** Returns the issues of the most probable alternative: its type fits, and it has the fewest issues. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const fitting = branches.filter((issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0))
  return [...(fitting.length > 0 ? fitting : branches)].sort((a, b) => a.length - b.length)[0] ?? []
}

function fieldPath(path: Path, where: string): string {
  if (path.length === 0) return where
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${shortName(String(part))}`)).join('')
}

/** Shortens a name to one line, since names come from the caller. */
function shortName(name: string): string {
  const clean = name.replaceAll(/\p{C}/gu, '?')
  return clean.length > 64 ? `${clean.slice(0, 63)}…` : clean
}
