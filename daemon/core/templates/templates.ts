/** Templates: save, read, and render a version. Spec "Template", "Versioning" 2. */
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { runInSteps, type Steps } from '../event-loop.ts'
import { byProject, listReachable, pageOfLoaded, sieve, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import { requireFlag } from '../plan/features.ts'
import { limitsOf, requireRoom } from '../plan/limits.ts'
import { invalid, Refusal } from '../refusals.ts'
import { checkingOf, type ContentCheck } from './content-check.ts'
import {
  checkingContent,
  parsingContent,
  renderingContent,
  renderingMarked,
  type MarkedTemplate,
  type RenderedTemplate,
} from './template-content.ts'
import {
  removeTemplate,
  templateLimits,
  templates,
  templateVersions,
  versionId,
  type Template,
  type TemplateContent,
  type TemplateVersion,
  type Variables,
} from './template.ts'

export interface NewTemplate {
  readonly slug: string
  readonly name: string
  readonly content: TemplateContent
  readonly projectId?: string | undefined
}

/** A save replaces the whole content. Slug and name stay unless given. */
export interface TemplateSave {
  readonly slug?: string | undefined
  readonly name?: string | undefined
  readonly content: TemplateContent
}

/** A template with one of its versions. */
export interface VersionedTemplate {
  readonly template: Template
  readonly version: TemplateVersion
}

/** A rendered version. */
export interface Preview extends RenderedTemplate {
  readonly version: number
}

/** Template and variables of a send. */
export interface TemplateOrder {
  readonly template: { readonly id: string } | { readonly slug: string }
  /** Defaults to the current version. */
  readonly version: number | undefined
  readonly variables: Variables
}

/** A rendered send, with the id and version of its template. */
export interface RenderedOrder extends MarkedTemplate {
  readonly from: { readonly id: string; readonly slug: string; readonly version: number }
}

export interface TemplateFilter extends OfProject {
  /** Part of the slug or name. */
  readonly q?: string | undefined
}

export class Templates implements List<TemplateFilter, Template> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Creates version 1. Throws `validation_failed`, `quota_exhausted` above the plan's limit, and `conflict` if the slug exists. */
  async create(principal: Principal, given: NewTemplate): Promise<VersionedTemplate> {
    const { database, writes, clock } = this.#core
    const { organizationId } = principal
    const { slug, name, content } = given
    return writes.runAudited(principal, 'template.created', async (change) => {
      const projectId = await this.checkNew(principal, given)
      const now = clock.now()
      const template = { id: database.newId('tpl', now), projectId, slug, name, currentVersion: 1, createdAt: now, updatedAt: now }
      change.insert(templates, organizationId, template)
      return { template, version: addVersion(change, principal, template, content, now) }
    })
  }

  /** Throws like `create`, and returns the project of the template. `before`: number of templates created first. */
  async checkNew(principal: Principal, { slug, content, projectId: named }: NewTemplate, before = 0): Promise<string> {
    const { database, policies } = this.#core
    const { organizationId } = principal
    checkSlug(slug)
    await runInSteps(checkingContent(content))
    const { organization, projects, deleted } = await policies.of(organizationId)
    const projectId = owningProject(principal, projects, named)
    await this.#checkSlugIsFree(principal, projectId, slug)
    if (limitsOf(organization).templates !== undefined) {
      const there = await database.all(templates, { organizationId, hiddenProjects: deleted })
      requireRoom(organization, 'templates', 'template', there.length + before)
    }
    return projectId
  }

  /** Newest first. */
  list(principal: Principal, query: PageQuery & TemplateFilter): Promise<Page<Template>> {
    const wanted = query.q?.toLowerCase()
    const chosen =
      wanted === undefined ? {} : { sieve: sieve(({ slug, name }: Template) => `${slug}\n${name.toLowerCase()}`.includes(wanted)) }
    return listReachable(this.#core, templates, principal, query, (project) => ({ ...byProject(project), ...chosen }))
  }

  /** Checks and renders this content without saving it. */
  check(content: TemplateContent, variables: Variables): Promise<ContentCheck> {
    return runInSteps(checkingOf(content, variables))
  }

  /** Returns the template with its current version. Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<VersionedTemplate> {
    const { record: template } = await this.#get(principal, id)
    return { template, version: await this.#version(principal, template, template.currentVersion) }
  }

  /** Saves the template. Changed content creates a new version; unchanged content does not. */
  async save(principal: Principal, id: string, { slug: newSlug, name: newName, content }: TemplateSave): Promise<VersionedTemplate> {
    const { writes, clock } = this.#core
    if (newSlug !== undefined) checkSlug(newSlug)
    await runInSteps(checkingContent(content))
    return writes.runAudited(principal, 'template.saved', async (change) => {
      const stored = await this.#get(principal, id)
      const before = stored.record
      const slug = newSlug ?? before.slug
      const name = newName ?? before.name
      if (slug !== before.slug) await this.#checkSlugIsFree(principal, before.projectId, slug)
      const current = await this.#version(principal, before, before.currentVersion)
      const isNew = !isDeepStrictEqual(contentOf(current), contentOf(content))
      if (!isNew && slug === before.slug && name === before.name) return { template: before, version: current }
      const now = clock.now()
      const template = { ...before, slug, name, currentVersion: before.currentVersion + (isNew ? 1 : 0), updatedAt: now }
      change.replace(templates, principal.organizationId, stored, template)
      return { template, version: isNew ? addVersion(change, principal, template, content, now) : current }
    })
  }

  /** Deletes a template with all its versions. */
  async remove(principal: Principal, id: string): Promise<void> {
    await this.#core.writes.runAudited(principal, 'template.deleted', async (change) =>
      removeTemplate(change, principal.organizationId, await this.#get(principal, id)),
    )
  }

  /**
   * Moves the template with its versions to another project of the organization. Throws `not_found`, and `conflict` if the slug exists
   * there.
   */
  async move(principal: Principal, id: string, to: string): Promise<void> {
    const { writes, policies, clock } = this.#core
    await writes.runAudited(principal, 'template.moved', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, projects, to)
      const stored = await this.#get(principal, id)
      if (stored.record.projectId === projectId) return
      await this.#checkSlugIsFree(principal, projectId, stored.record.slug)
      change.replace(templates, principal.organizationId, stored, { ...stored.record, projectId, updatedAt: clock.now() })
    })
  }

  /** Newest first. */
  async versions(principal: Principal, { id, limit, cursor }: PageQuery & { readonly id: string }): Promise<Page<TemplateVersion>> {
    const { record: template } = await this.#get(principal, id)
    const all = Array.from({ length: template.currentVersion }, (_, i) => template.currentVersion - i)
    const order = { positionOf: (version: number) => [version], descending: true }
    const { rows, nextCursor } = pageOfLoaded(templateVersions, principal, all, { limit, cursor }, order)
    const { organizationId } = principal
    const found = await this.#core.database.getMany(
      templateVersions,
      { organizationId },
      rows.map((version) => versionId(id, version)),
    )
    return { rows: found.map((stored) => requireVersion(stored)), nextCursor }
  }

  /** Throws `not_found` for an unknown template or version. */
  async version(principal: Principal, id: string, version: number): Promise<TemplateVersion> {
    const { record: template } = await this.#get(principal, id)
    if (version < 1 || version > template.currentVersion) throw new Refusal('not_found', `version: ${noVersion(template, version)}.`)
    return this.#version(principal, template, version)
  }

  /** Renders a version, by default the current one. Throws `validation_failed` for invalid variables or an unknown version. */
  async preview(principal: Principal, id: string, variables: Variables, version?: number): Promise<Preview> {
    const { record: template } = await this.#get(principal, id)
    const pinned = pinnedVersion(template, version, 'version')
    const rendered = await runInSteps(renderingContent(await this.#version(principal, template, pinned), variables, 'variables'))
    return { version: pinned, ...rendered }
  }

  /** Renders for a send of this project. Throws `validation_failed` naming the invalid field of the send. */
  async render(
    principal: Principal,
    projectId: string,
    { template: named, version: asked, variables }: TemplateOrder,
  ): Promise<RenderedOrder> {
    requireFlag((await this.#core.policies.of(principal.organizationId)).organization, 'templates')
    const template = await this.#ofProject(principal, projectId, named)
    const version = pinnedVersion(template, asked, 'template_version')
    const rendered = await runInSteps(renderingOrder(await this.#version(principal, template, version), variables))
    return { ...rendered, from: { id: template.id, slug: template.slug, version } }
  }

  /** Returns the template of the principal's project with this slug, or undefined. */
  async bySlug(principal: Principal, slug: string): Promise<Template | undefined> {
    return (await this.#core.database.find(templates, principal, 'slug', [principal.projectId, slug]))?.record
  }

  async #ofProject(principal: Principal, projectId: string, named: TemplateOrder['template']): Promise<Template> {
    const { database } = this.#core
    const stored = await ('id' in named
      ? database.get(templates, principal, named.id)
      : database.find(templates, principal, 'slug', [projectId, named.slug]))
    if (stored?.record.projectId === projectId) return stored.record
    const [path, what] = 'id' in named ? ['template_id', 'id'] : ['template_slug', 'slug']
    throw invalid([{ path, message: `no template of this project has this ${what}` }])
  }

  async #get(principal: Principal, id: string): Promise<Stored<Template>> {
    const stored = await this.#core.database.get(templates, principal, id)
    if (!stored) throw noTemplate()
    return stored
  }

  /** Throws `not_found` if the template was deleted in the meantime. */
  async #version({ organizationId }: Principal, { id }: Template, version: number): Promise<TemplateVersion> {
    return requireVersion(await this.#core.database.get(templateVersions, { organizationId }, versionId(id, version)))
  }

  async #checkSlugIsFree(principal: Principal, projectId: string, slug: string): Promise<void> {
    const { organizationId } = principal
    const other = await this.#core.database.find(templates, { organizationId }, 'slug', [projectId, slug])
    if (!other) return
    const message = `slug: another template of this project has the slug ${slug}; choose another, or save a new version of that template.`
    throw new Refusal('conflict', message, { details: { template_id: other.record.id } })
  }
}

function* renderingOrder(content: TemplateContent, variables: Variables): Steps<MarkedTemplate> {
  return yield* renderingMarked(content, variables, 'template_vars', yield* parsingContent(content))
}

/** Returns the version requested in `field`, or the current version. */
function pinnedVersion(template: Template, asked: number | undefined, field: string): number {
  if (asked === undefined) return template.currentVersion
  if (asked < 1 || asked > template.currentVersion) throw invalid([{ path: field, message: noVersion(template, asked) }])
  return asked
}

function addVersion(change: Change, principal: Principal, template: Template, content: TemplateContent, now: number): TemplateVersion {
  const { id: templateId, currentVersion: version } = template
  const id = versionId(templateId, version)
  const record = { id, templateId, version, ...contentOf(content), savedBy: principal.credentialId, createdAt: now }
  change.insert(templateVersions, principal.organizationId, record)
  return record
}

const contentOf = ({ subject, text, html, schema }: TemplateContent): TemplateContent => ({ subject, text, html, schema })

function checkSlug(slug: string): void {
  if (slug.length <= templateLimits.slug && /^[a-z0-9][a-z0-9._-]*$/.test(slug) && !slug.startsWith('tpl_')) return
  const message = `must be a name such as order-confirmation: small letters, digits, ., _ and -, at most ${templateLimits.slug}, and no id`
  throw invalid([{ path: 'slug', message }])
}

/** Throws `not_found` if the template was deleted in the meantime. */
function requireVersion(stored: Stored<TemplateVersion> | undefined): TemplateVersion {
  if (!stored) throw noTemplate()
  return stored.record
}

const noTemplate = (): Refusal => new Refusal('not_found', 'No template has this id.')

const noVersion = ({ currentVersion }: Template, version: number): string =>
  `there is no version ${version}; the template has ${currentVersion === 1 ? 'version 1 only' : `versions 1 to ${currentVersion}`}`
