/** Content of a template: subject, text and HTML with the schema of their variables. Checks and renders it. */
import { placeIn } from '#config/texts/text-place.ts'
import { invalid, type FieldProblem } from '../refusals.ts'
import { undeclared } from './declared-variables.ts'
import { runAtOnce, type Steps } from '../event-loop.ts'
import { parseTemplate, parsingTemplate } from './parser.ts'
import { escapeHtml, onOneLine, render, rendering, type Rendered, type Span } from './renderer.ts'
import { readSchema } from './schema.ts'
import { fitValues, wrongDefaults } from './schema-values.ts'
import type { ParsedTemplate } from './syntax.ts'
import { maxFaults, TemplateFault } from './template-fault.ts'
import type { TemplateContent, Variables } from './template.ts'

/** A rendered template. */
export interface RenderedTemplate {
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
}

/** Includes the ranges of variable values in subject and text. HTML is analyzed in its rendered form instead. */
export interface MarkedTemplate extends RenderedTemplate {
  readonly filled: { readonly subject: readonly Span[]; readonly text: readonly Span[] }
}

/** Maximum rendered characters of each part. A subject with its field name fits one line (RFC 5322 §2.1.1). */
const maxSubject = 989
const maxBody = 1_048_576
const asItIs = (text: string): string => text

const parts = [
  { part: 'subject', field: 'subject_tmpl', escape: onOneLine, maxCharacters: maxSubject },
  { part: 'text', field: 'text_tmpl', escape: asItIs, maxCharacters: maxBody },
  { part: 'html', field: 'html_tmpl', escape: escapeHtml, maxCharacters: maxBody },
] as const

type Part = (typeof parts)[number]

/** A problem with its position in the template. */
interface PlacedProblem extends FieldProblem {
  readonly line: number
  readonly column: number
  readonly variable?: string
}

/** The parsed parts; a faulty part is its fault. */
export type ParsedContent = Readonly<Record<Part['part'], ParsedTemplate | TemplateFault | null>>

/** Parses each part once, in steps. */
export function* parsingContent(content: TemplateContent): Steps<ParsedContent> {
  const parsed: Record<Part['part'], ParsedTemplate | TemplateFault | null> = { subject: null, text: null, html: null }
  for (const { part } of parts) {
    const source = content[part]
    if (source !== null) parsed[part] = yield* parsingOrFault(source)
  }
  return parsed
}

function* parsingOrFault(source: string): Steps<ParsedTemplate | TemplateFault> {
  try {
    return yield* parsingTemplate(source)
  } catch (error) {
    return asFault(error)
  }
}

/** Throws `validation_failed` naming field, line, column and variable of each problem. */
export const checkContent = (content: TemplateContent): void => runAtOnce(checkingContent(content))

/** Checks in steps. Throws like `checkContent`. */
export function* checkingContent(content: TemplateContent): Steps<void> {
  const problems = problemsIn(content, yield* parsingContent(content))
  if (problems.length > 0) throw invalid(problems)
}

/** Returns the problems that prevent saving, up to a maximum number. */
export const problemsOf = (content: TemplateContent): readonly FieldProblem[] => problemsIn(content, runAtOnce(parsingContent(content)))

/** Returns the problems of content that is already parsed. */
export function problemsIn(content: TemplateContent, parsed: ParsedContent): readonly FieldProblem[] {
  const { schema, problems: inSchema } = content.schema === null ? noSchema : readSchema(content.schema, 'schema_json')
  const inDefaults = schema && inSchema.length === 0 ? wrongDefaults(schema, 'schema_json') : []
  const problems: FieldProblem[] = [...inSchema, ...inDefaults]
  if (onOneLine(content.subject) !== content.subject)
    problems.push({ path: 'subject_tmpl', message: 'must be on one line, without control characters' })
  for (const { part, field } of parts) {
    const [source, read] = [content[part], parsed[part]]
    if (source === null || read === null) continue
    const faults = read instanceof TemplateFault ? [read] : undeclared(read, inSchema.length === 0 ? schema : undefined)
    problems.push(...faults.map((fault) => placed(field, source, fault)))
  }
  return problems.slice(0, maxFaults)
}

/** Returns the problems of a single-line template with any variables, such as the subject of a notification. */
export function problemsOfLine(path: string, source: string): readonly FieldProblem[] {
  try {
    parseTemplate(source)
    return []
  } catch (error) {
    return [placed(path, source, asFault(error))]
  }
}

/** Renders a single-line template; missing values render as empty. Throws a `TemplateFault`. */
export const renderLine = (source: string, variables: Variables): string =>
  render(parseTemplate(source), variables, { escape: onOneLine, strict: false, maxCharacters: maxSubject })

const noSchema = { schema: undefined, problems: [] } as const

function placed(path: string, source: string, { message, at, variable }: TemplateFault): PlacedProblem {
  const { line, column } = placeIn(source, at)
  return { path, message: `line ${line}, column ${column}: ${message}`, line, column, ...(variable !== undefined && { variable }) }
}

/** `given` names the variables in the request. Throws `validation_failed` for invalid variables. */
export const renderContent = (content: TemplateContent, variables: Variables, given: string): RenderedTemplate =>
  runAtOnce(renderingContent(content, variables, given))

/** Renders in steps. Throws like `renderContent`. */
export function* renderingContent(content: TemplateContent, variables: Variables, given: string): Steps<RenderedTemplate> {
  const { filled: _, ...rendered } = yield* renderingMarked(content, variables, given, yield* parsingContent(content))
  return rendered
}

/** Renders parsed content. Also returns the ranges that variable values occupy in the rendered subject and text. */
export function* renderingMarked(
  content: TemplateContent,
  variables: Variables,
  given: string,
  parsed: ParsedContent,
): Steps<MarkedTemplate> {
  const values = fitted(content, variables, given)
  const problems: FieldProblem[] = []
  const filled: Partial<Record<Part['part'], Rendered>> = {}
  for (const part of parts) {
    const template = parsed[part.part]
    if (template === null) continue
    if (template instanceof TemplateFault) throw template
    try {
      filled[part.part] = yield* rendering(template, values, { ...part, strict: content.schema === null })
    } catch (error) {
      problems.push(unfit(part.field, template, asFault(error), given))
    }
  }
  const { subject, text, html } = filled
  if (problems.length > 0) throw invalid(problems)
  return {
    ...{ subject: subject?.text ?? '', text: text?.text ?? null, html: html?.text ?? null },
    filled: { subject: subject?.filled ?? [], text: text?.filled ?? [] },
  }
}

/** Returns the variables with the schema's defaults. */
function fitted({ schema }: TemplateContent, variables: Variables, given: string): unknown {
  if (schema === null) return variables
  const { value, problems } = fitValues(readSchema(schema, 'schema_json').schema, variables, given)
  if (problems.length > 0) throw invalid(problems)
  return value
}

/** Attributes the fault to its variable, or to all variables without one. */
function unfit(field: string, { source }: ParsedTemplate, { message, at, variable }: TemplateFault, given: string): FieldProblem {
  if (variable === undefined) return { path: given, message: `${field} ${message}; give less` }
  const { line, column } = placeIn(source, at)
  const path = variable === '' ? given : `${given}.${variable}`
  const problem: PlacedProblem = { path, message: `${message}; ${field} uses it in line ${line}, column ${column}`, line, column, variable }
  return problem
}

function asFault(error: unknown): TemplateFault {
  if (error instanceof TemplateFault) return error
  throw error
}
