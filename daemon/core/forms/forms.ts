/** Creates, finds, renames, copies, moves and deletes forms. See `drafts.ts` and `publishing.ts` for their content. */
import assert from 'node:assert'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { byProject, listReachable, sieve, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { invalid, Refusal } from '../refusals.ts'
import { count, projectNames } from '../insights/count.ts'
import { must } from '../writes/transact.ts'
import { checkDefinition, type DefinitionProblem } from './definition/check-definition.ts'
import { captchaContext, formDrafts, forms, newPublicId, removeForm, type Form, type FormStatus } from './form.ts'
import { statusCounter, submissionStatuses, type SubmissionStatus } from './submissions/submission.ts'
import { blankDefinition, starterDefinition, type StarterName } from './starters.ts'

export interface NewForm {
  readonly name: string
  readonly projectId?: string | undefined
  /** The starter template; excludes `definition`. */
  readonly template?: StarterName | undefined
  /** The definition; `name` replaces its name. */
  readonly definition?: Readonly<Record<string, unknown>> | undefined
}

export interface FormFilter extends OfProject {
  readonly status?: FormStatus | undefined
  /** Part of the name. */
  readonly q?: string | undefined
}

/** A form with its number of new submissions and of submissions by status. */
export interface ListedForm extends Form {
  readonly submissionsNew: number
  readonly submissionsByStatus: Readonly<Record<SubmissionStatus, number>>
}

export class Forms implements List<FormFilter, ListedForm> {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Creates a draft form. Throws `definition_invalid`, and `not_found` for a project outside the caller's reach. */
  create(principal: Principal, { name, projectId, template, definition }: NewForm): Promise<Form> {
    if (template !== undefined && definition !== undefined)
      throw invalid([{ path: 'template', message: 'cannot be combined with definition; remove template or definition' }])
    const content = definition ? { ...definition, name } : template ? starterDefinition(template, name) : blankDefinition(name)
    if (definition) requireSound(content)
    return this.#core.writes.runAudited(principal, 'form.created', (change) => this.#add(change, principal, { name, projectId, content }))
  }

  /** Copies the draft to a new unpublished form with a new public id and no submissions. */
  duplicate(principal: Principal, id: string, projectId?: string): Promise<Form> {
    return this.#core.writes.runAudited(principal, 'form.created', async (change) => {
      const { record } = await this.#get(principal, id)
      const draft = await must(this.#core.database, formDrafts, { organizationId: principal.organizationId }, id)
      const name = copyName(record.name)
      return this.#add(change, principal, {
        ...{ name, projectId: projectId ?? record.projectId },
        content: { ...draft.record.definition, name },
      })
    })
  }

  /** Lists forms, newest first. */
  async list(principal: Principal, query: PageQuery & FormFilter): Promise<Page<ListedForm>> {
    const { status, q } = query
    const wanted = q?.toLowerCase()
    const fits = (form: Form): boolean =>
      (status === undefined || form.status === status) && (wanted === undefined || form.name.toLowerCase().includes(wanted))
    const chosen = status === undefined && wanted === undefined ? {} : { sieve: sieve(fits) }
    const { rows, nextCursor } = await listReachable(this.#core, forms, principal, query, (project) => ({
      ...byProject(project),
      ...chosen,
    }))
    return { rows: await this.#listed(principal, rows), nextCursor }
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<ListedForm> {
    const { record } = await this.#get(principal, id)
    const [listed] = await this.#listed(principal, [record])
    return listed ?? assert.fail('each form is listed')
  }

  /** Reads the counters of all forms in one call. */
  async #listed({ organizationId }: Principal, all: readonly Form[]): Promise<readonly ListedForm[]> {
    const keys = all.flatMap(({ id }) => submissionStatuses.map((status) => pack(statusCounter(organizationId, id, status))))
    const counts = await this.#core.database.kv.counters(keys)
    return all.map((form, at) => {
      const own = counts.slice(at * submissionStatuses.length, (at + 1) * submissionStatuses.length)
      const [submissionsNew = 0, read = 0, replied = 0, archived = 0, spam = 0] = own.map((count) => Math.max(0, count))
      return { ...form, submissionsNew, submissionsByStatus: { new: submissionsNew, read, replied, archived, spam } }
    })
  }

  /** Renames the form and its draft. The published version keeps its name until the next publication. */
  rename(principal: Principal, id: string, name: string): Promise<Form> {
    const { writes, database, clock } = this.#core
    return writes.runAudited(principal, 'form.updated', async (change) => {
      const stored = await this.#get(principal, id)
      if (stored.record.name === name) return stored.record
      const { organizationId, credentialId: editedBy } = principal
      const draft = await must(database, formDrafts, { organizationId }, id)
      const now = clock.now()
      const { revision, definition } = draft.record
      change.replace(formDrafts, organizationId, draft, {
        ...{ id, definition: { ...definition, name }, revision: revision + 1, editedBy, editedAt: now },
      })
      return this.#replace(change, principal, stored, { ...stored.record, name, updatedAt: now })
    })
  }

  /** Moves the form and its data to another project of the organization; its URLs do not change. Throws `not_found`. */
  move(principal: Principal, id: string, to: string): Promise<Form> {
    const { writes, policies, clock } = this.#core
    return writes.runAudited(principal, 'form.moved', async (change) => {
      const { projects } = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, projects, to)
      const stored = await this.#get(principal, id)
      if (stored.record.projectId === projectId) return stored.record
      return this.#replace(change, principal, stored, { ...stored.record, projectId, updatedAt: clock.now() })
    })
  }

  /** Sets the secret for the captcha provider; null removes it. */
  setCaptchaSecret(principal: Principal, id: string, secret: string | null): Promise<Form> {
    const { writes, secrets, clock } = this.#core
    return writes.runAudited(principal, 'form.captcha_secret_set', async (change) => {
      const stored = await this.#get(principal, id)
      const sealedCaptchaSecret = secret === null ? null : secrets.seal(secret, captchaContext(id))
      return this.#replace(change, principal, stored, { ...stored.record, sealedCaptchaSecret, updatedAt: clock.now() })
    })
  }

  /** Deletes the form and its data permanently. Throws `validation_failed` unless `confirm` is the name of the form. */
  async remove(principal: Principal, id: string, confirm: string | undefined): Promise<void> {
    await this.#core.writes.runAudited(principal, 'form.deleted', async (change) => {
      const stored = await this.#get(principal, id)
      if (confirm !== stored.record.name) {
        const message = `must be the name of the form, ${JSON.stringify(stored.record.name)}: the form and all its versions are deleted permanently`
        throw invalid([{ path: 'confirm', message }])
      }
      removeForm(change, principal.organizationId, stored)
      noteForm(change, principal, stored.record, this.#core.clock.now())
    })
  }

  async #add(
    change: Change,
    principal: Principal,
    { name, projectId: named, content }: { name: string; projectId: string | undefined; content: Readonly<Record<string, unknown>> },
  ): Promise<Form> {
    const { database, policies, clock } = this.#core
    const { projects } = await policies.of(principal.organizationId)
    const projectId = owningProject(principal, projects, named)
    const now = clock.now()
    const id = database.newId('frm', now)
    const form: Form = {
      ...{ id, publicId: newPublicId(), projectId, name, status: 'draft', version: 0, publishedAt: null },
      ...{ sealedCaptchaSecret: null, createdAt: now, updatedAt: now },
    }
    const draft = { id, definition: content, revision: 1, editedBy: principal.credentialId, editedAt: now }
    change.insert(forms, principal.organizationId, form).insert(formDrafts, principal.organizationId, draft)
    count(change, { organizationId: principal.organizationId, projectId }, [projectNames.form], now)
    return form
  }

  #replace(change: Change, principal: Principal, stored: Stored<Form>, form: Form): Form {
    change.replace(forms, principal.organizationId, stored, form)
    noteForm(change, principal, form, form.updatedAt)
    if (form.projectId !== stored.record.projectId) noteForm(change, principal, stored.record, form.updatedAt)
    return form
  }

  #get(principal: Principal, id: string): Promise<Stored<Form>> {
    return must(this.#core.database, forms, principal, id)
  }
}

/** Records a change, so that open form lists are reloaded. */
export function noteForm(change: Change, { organizationId }: Principal, { projectId }: Form, nowMs: number): void {
  count(change, { organizationId, projectId }, [projectNames.formChanged], nowMs)
}

/** Throws `definition_invalid` with all problems. */
export function requireSound(content: unknown): NonNullable<ReturnType<typeof checkDefinition>['definition']> {
  const { definition, errors } = checkDefinition(content)
  if (definition) return definition
  throw definitionInvalid(errors)
}

function definitionInvalid(errors: readonly DefinitionProblem[]): Refusal {
  const [first] = errors
  const more = errors.length > 1 ? ` There are ${errors.length - 1} more errors.` : ''
  const message = `The definition of the form cannot be published: ${first?.path || 'definition'} ${first?.message ?? ''}.${more}`
  return new Refusal('definition_invalid', message, { details: { errors } })
}

const maxName = 120
const copyName = (name: string): string => `${name.slice(0, maxName - 7)} (copy)`
