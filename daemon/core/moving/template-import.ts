/** Takes over templates of another service, each by itself: a template that cannot be taken stops no other, and again changes nothing. */
import { isDeepStrictEqual } from 'node:util'
import type { Core } from '../core.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import { Refusal, type FieldProblem } from '../refusals.ts'
import { problemsOf } from '../templates/template-content.ts'
import { templateLimits, templates, type TemplateContent } from '../templates/template.ts'
import type { Templates } from '../templates/templates.ts'
import { giveWay } from '../event-loop.ts'

/** What could not be taken, or is different here, and where. */
export interface TemplateFinding {
  readonly part: 'subject' | 'text' | 'html' | 'template'
  readonly message: string
  readonly line?: number | undefined
  readonly column?: number | undefined
}

export interface MovedTemplate {
  /** By what requests to the other service named it. */
  readonly key: string
  readonly name: string
  readonly content: TemplateContent
  /** Each of them keeps it from being taken. */
  readonly problems: readonly TemplateFinding[]
  readonly notes: readonly TemplateFinding[]
}

export const templateOutcomes = ['created', 'updated', 'unchanged', 'refused'] as const

export interface TemplateOutcome {
  readonly slug: string
  readonly name: string
  readonly result: (typeof templateOutcomes)[number]
  /** Null where there is none: it was refused, or would be made. */
  readonly id: string | null
  readonly findings: readonly TemplateFinding[]
}

export interface TemplateImportRequest {
  /** Each is translated when its turn comes. */
  readonly templates: readonly (() => MovedTemplate)[]
  readonly projectId: string | undefined
  readonly isDryRun: boolean
  /** A template that is here with other content gets a new version; otherwise it is refused. */
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

  /** The outcome of each, in order. Throws `not_found` for another's project. */
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
    const renamed: TemplateFinding = { part: 'template', message: `requests name it ${slug} here` }
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
        return refused([{ part: 'template', message: 'a template with this slug is here, with other content; it was left as it is' }])
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

/** A name of another service as a slug: what requests name is kept as far as it can be. */
const slugOf = (key: string): string =>
  key
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, templateLimits.slug)

const partOf: Readonly<Record<string, TemplateFinding['part']>> = { subject_tmpl: 'subject', text_tmpl: 'text', html_tmpl: 'html' }

/** What keeps the content from being saved: its size, and the rules of the engine. */
function faultsOf(slug: string, content: TemplateContent): readonly TemplateFinding[] {
  if (slug === '') return [{ part: 'template', message: 'has no name or id' }]
  for (const part of ['subject', 'text', 'html'] as const)
    if ((content[part]?.length ?? 0) > templateLimits[part])
      return [{ part, message: `has more than ${String(templateLimits[part])} characters` }]
  return problemsOf(content).map(({ path, message }: FieldProblem) => ({ part: partOf[path] ?? 'template', message }))
}
