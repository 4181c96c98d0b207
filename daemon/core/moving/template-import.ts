/**
 * Imports templates of another service one by one. A rejected template does not stop the others, and repeating the import changes nothing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Core } from '../core.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import { Refusal, type FieldProblem } from '../refusals.ts'
import { problemsOf } from '../templates/template-content.ts'
import { templateLimits, templates, type TemplateContent } from '../templates/template.ts'
import type { Templates } from '../templates/templates.ts'
import { giveWay } from '../event-loop.ts'

/** A part that was not imported or differs, with its position. */
export interface TemplateFinding {
  readonly part: 'subject' | 'text' | 'html' | 'template'
  readonly message: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

export interface MovedTemplate {
  /** Name of the template in requests to the other service. */
  readonly key: string
  readonly name: string
  readonly content: TemplateContent
  /** Problems that prevent the import. */
  readonly problems: readonly TemplateFinding[]
  readonly notes: readonly TemplateFinding[]
}

export const templateOutcomes = ['created', 'updated', 'unchanged', 'refused'] as const

export interface TemplateOutcome {
  readonly slug: string
  readonly name: string
  readonly result: (typeof templateOutcomes)[number]
  /** Null for rejected templates, and for new templates in a dry run. */
  readonly id: string | null
  readonly findings: readonly TemplateFinding[]
}

export interface TemplateImportRequest {
  /** Each function converts one template when its turn comes. */
  readonly templates: readonly (() => MovedTemplate)[]
  readonly projectId: string | undefined
  readonly isDryRun: boolean
  /** Whether an existing template with different content gets a new version; otherwise the import rejects it. */
  readonly replaces: boolean
}

export const maxMovedTemplates = 500

export class TemplateImport {
  readonly #core: Core
  readonly #templates: Templates

  constructor(core: Core, theirs: Templates) {
    this.#core = core
    this.#templates = theirs
  }

  /** Returns the results in order. Throws `not_found` for a project of another organization. */
  async run(principal: Principal, request: TemplateImportRequest): Promise<readonly TemplateOutcome[]> {
    const { projects } = await this.#core.policies.of(principal.organizationId)
    const projectId = owningProject(principal, projects, request.projectId)
    const outcomes: TemplateOutcome[] = []
    const taken = new Set<string>()
    for (const next of request.templates) {
      const given = next()
      const slug = slugOf(given.key)
      const created = outcomes.filter(({ result }) => result === 'created').length
      outcomes.push(taken.has(slug) ? twice(slug, given) : await this.#take(principal, { projectId, slug, created }, given, request))
      taken.add(slug)
      await giveWay()
    }
    return outcomes
  }

  async #take(
    principal: Principal,
    { projectId, slug, created }: { readonly projectId: string; readonly slug: string; readonly created: number },
    { key, name: given, content, problems, notes }: MovedTemplate,
    { isDryRun, replaces }: TemplateImportRequest,
  ): Promise<TemplateOutcome> {
    const name = given.slice(0, templateLimits.name).toWellFormed()
    const renamed: TemplateFinding = { part: 'template', message: `requests must use the slug ${slug}` }
    const findings = [...(slug === key ? [] : [renamed]), ...notes]
    const refused = (more: readonly TemplateFinding[]): TemplateOutcome => ({
      slug,
      name,
      result: 'refused',
      id: null,
      findings: [...more, ...notes],
    })
    const wrong = problems.length > 0 ? problems : faultsOf(slug, content)
    if (wrong.length > 0) return refused(wrong)
    try {
      const there = await this.#core.database.find(templates, principal, 'slug', [projectId, slug])
      if (!there) {
        const wanted = { slug, name, content, projectId }
        if (isDryRun) await this.#templates.checkNew(principal, wanted, created)
        const id = isDryRun ? null : (await this.#templates.create(principal, wanted)).template.id
        return { slug, name, result: 'created', id, findings }
      }
      const { id } = there.record
      const { version } = await this.#templates.get(principal, id)
      const { subject, text, html, schema } = version
      if (isDeepStrictEqual({ subject, text, html, schema }, content)) return { slug, name, result: 'unchanged', id, findings }
      if (!replaces)
        return refused([{ part: 'template', message: 'a template with this slug exists with different content; it was not changed' }])
      if (!isDryRun) await this.#templates.save(principal, id, { content })
      return { slug, name, result: 'updated', id, findings }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return refused([{ part: 'template', message: error.message }])
    }
  }
}

const twice = (slug: string, { name }: MovedTemplate): TemplateOutcome => ({
  ...{ slug, name, result: 'refused', id: null },
  findings: [{ part: 'template', message: 'another template of this import has the same slug' }],
})

/** Converts a name of another service to a slug, with as few changes as possible. */
const slugOf = (key: string): string =>
  key
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, templateLimits.slug)

const partOf: Readonly<Record<string, TemplateFinding['part']>> = { subject_tmpl: 'subject', text_tmpl: 'text', html_tmpl: 'html' }

/** Returns the reasons why the content cannot be saved: its size, and errors of the template engine. */
function faultsOf(slug: string, content: TemplateContent): readonly TemplateFinding[] {
  if (slug === '') return [{ part: 'template', message: 'has no name or id' }]
  for (const part of ['subject', 'text', 'html'] as const)
    if ((content[part]?.length ?? 0) > templateLimits[part])
      return [{ part, message: `has more than ${String(templateLimits[part])} characters` }]
  return problemsOf(content).map(({ path, message }: FieldProblem) => ({ part: partOf[path] ?? 'template', message }))
}
