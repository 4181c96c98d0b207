/** Checks a template's content before saving: problems that prevent saving, warnings, and a preview. */
import { placeIn } from '#config/texts/text-place.ts'
import type { Steps } from '../event-loop.ts'
import { Refusal, type FieldProblem } from '../refusals.ts'
import { readSchema } from './schema.ts'
import type { Node } from './syntax.ts'
import { parsingContent, problemsIn, renderingMarked, type ParsedContent, type RenderedTemplate } from './template-content.ts'
import type { TemplateContent, Variables } from './template.ts'

export const warningCodes = ['text_missing', 'html_large', 'subject_long', 'variable_unused', 'image_without_alt'] as const

export interface ContentWarning {
  readonly code: (typeof warningCodes)[number]
  readonly path: string
  readonly message: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

export interface ContentCheck {
  /** Problems that prevent saving the content, or rendering with these variables. */
  readonly problems: readonly FieldProblem[]
  readonly warnings: readonly ContentWarning[]
  /** Root names in the content, in order of first use. */
  readonly variables: readonly string[]
  /** Null if there are problems. */
  readonly preview: RenderedTemplate | null
}

/** Gmail clips messages above this size. */
const maxHtmlBytes = 102 * 1024
/** Characters that most mail programs show in lists. */
const usualSubject = 78

/** Checks in steps, and parses each part once. Never throws because of the content. */
export function* checkingOf(content: TemplateContent, variables: Variables): Steps<ContentCheck> {
  const parsed = yield* parsingContent(content)
  const inContent = problemsIn(content, parsed)
  const used = inContent.length === 0 ? usedVariables(parsed) : []
  const rendered = inContent.length === 0 ? yield* tryingToRender(content, variables, parsed) : inContent
  const [preview, problems] = isRendered(rendered) ? [rendered, []] : [null, rendered]
  return {
    problems,
    warnings: [...warningsOf(content, used, problems.length === 0), ...renderedWarnings(preview)],
    variables: used,
    preview,
  }
}

type Rendered = RenderedTemplate | readonly FieldProblem[]

const isRendered = (rendered: Rendered): rendered is RenderedTemplate => 'subject' in rendered

function* tryingToRender(content: TemplateContent, variables: Variables, parsed: ParsedContent): Steps<Rendered> {
  try {
    const { subject, text, html } = yield* renderingMarked(content, variables, 'variables', parsed)
    return { subject, text, html }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'validation_failed') return (error.details?.['fields'] ?? []) as FieldProblem[]
    throw error
  }
}

function usedVariables({ subject, text, html }: ParsedContent): readonly string[] {
  const names = new Set<string>()
  for (const part of [subject, text, html]) if (part && 'nodes' in part) collect(part.nodes, names, true)
  return [...names]
}

/** `isRoot`: names without `$` refer to the root. */
function collect(nodes: readonly Node[], names: Set<string>, isRoot: boolean): void {
  const note = ({ fromRoot, names: [first] }: { readonly fromRoot: boolean; readonly names: readonly string[] }): void => {
    if (first !== undefined && (fromRoot || isRoot)) names.add(first)
  }
  for (const node of nodes) {
    if (node.kind === 'print') note(node.path)
    else if (node.kind === 'if') {
      for (const { condition, body } of node.branches) {
        note(condition)
        collect(body, names, isRoot)
      }
      collect(node.otherwise, names, isRoot)
    } else if (node.kind === 'range') {
      note(node.list)
      collect(node.body, names, false)
      collect(node.otherwise, names, isRoot)
    }
  }
}

function warningsOf({ text, html, schema }: TemplateContent, used: readonly string[], isGood: boolean): readonly ContentWarning[] {
  const warnings: ContentWarning[] = []
  const isEmpty = (part: string | null): boolean => (part ?? '').trim() === ''
  if (!isEmpty(html) && isEmpty(text))
    warnings.push({ code: 'text_missing', path: 'text_tmpl', message: 'has no text part; some programs and filters want one' })
  const declared = schema !== null && isGood ? [...(readSchema(schema, 'schema_json').schema.properties?.keys() ?? [])] : []
  for (const name of declared.filter((one) => !used.includes(one)))
    warnings.push({ code: 'variable_unused', path: 'schema_json', message: `${name} is declared and not used` })
  const image = html === null ? undefined : imageWithoutAlt(html)
  if (html !== null && image !== undefined)
    warnings.push({
      ...{ code: 'image_without_alt', path: 'html_tmpl', message: 'an image has no alt text; give alt="" where it only decorates' },
      ...placeIn(html, image),
    })
  return warnings
}

/** Returns the offset of the first image without alt text. */
function imageWithoutAlt(html: string): number | undefined {
  for (let at = html.indexOf('<img'); at >= 0;) {
    const end = html.indexOf('>', at)
    if (end < 0) return undefined
    if (!/\salt[\s=>/]/i.test(html.slice(at, end + 1))) return at
    at = html.indexOf('<img', end)
  }
  return undefined
}

function renderedWarnings(preview: RenderedTemplate | null): readonly ContentWarning[] {
  if (preview === null) return []
  const warnings: ContentWarning[] = []
  if (preview.subject.length > usualSubject)
    warnings.push({
      ...{ code: 'subject_long', path: 'subject_tmpl' },
      message: `has ${preview.subject.length} characters filled in; most programs show ${usualSubject}`,
    })
  const bytes = Buffer.byteLength(preview.html ?? '')
  if (bytes > maxHtmlBytes)
    warnings.push({
      ...{ code: 'html_large', path: 'html_tmpl' },
      message: `has ${Math.ceil(bytes / 1024)} KB filled in; Gmail cuts messages off at 102 KB`,
    })
  return warnings
}
