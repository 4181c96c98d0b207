/** Publishes versions of a form and changes its status. */
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pageOfLoaded, type PageQuery } from '../access/principal/lists.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import { must } from '../writes/transact.ts'
import type { Definition } from './definition/definition.ts'
import { diffDefinitions, type DefinitionChange } from './definition/diff.ts'
import { formDrafts, forms, formVersions, versionId, type Form, type FormStatus, type FormVersion } from './form.ts'
import { noteForm, requireSound } from './forms.ts'

/** The note of a version, and the version that it restores. */
interface VersionFacts {
  readonly note: string
  readonly rolledBackTo: number | null
}

export class Publishing {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Publishes the draft as a new version, unless it equals the current version. Throws `definition_invalid`, and `conflict` for an archived
   * form.
   */
  publish(principal: Principal, id: string, note = ''): Promise<Form> {
    const { writes, database } = this.#core
    return writes.runAudited(principal, 'form.published', async (change) => {
      const stored = await this.#open(principal, id)
      const draft = await must(database, formDrafts, { organizationId: principal.organizationId }, id)
      change.checkRecord(formDrafts, principal.organizationId, draft)
      return this.#publish(change, principal, stored, requireSound(draft.record.definition), { note, rolledBackTo: null })
    })
  }

  /** Publishes an earlier version again as a new version, because versions never change. Throws `not_found` for a missing version. */
  rollBack(principal: Principal, id: string, version: number, note = ''): Promise<Form> {
    return this.#core.writes.runAudited(principal, 'form.rolled_back', async (change) => {
      const stored = await this.#open(principal, id)
      const { definition } = await this.#version(principal, stored.record, version)
      return this.#publish(change, principal, stored, definition, { note, rolledBackTo: version })
    })
  }

  /**
   * Hides the form from visitors until it is resumed. A repeated call changes nothing. Throws `conflict` for a form that was never
   * published.
   */
  pause(principal: Principal, id: string): Promise<Form> {
    return this.#turn(principal, id, 'form.paused', ['published'], () => 'paused')
  }

  /** Shows a paused form again. A repeated call changes nothing. */
  resume(principal: Principal, id: string): Promise<Form> {
    return this.#turn(principal, id, 'form.resumed', ['paused'], () => 'published')
  }

  /** Archives the form and keeps its data. A repeated call changes nothing. */
  archive(principal: Principal, id: string): Promise<Form> {
    return this.#turn(principal, id, 'form.archived', ['draft', 'published', 'paused'], () => 'archived')
  }

  /** Restores the form as paused, or as a draft if it was never published. A repeated call changes nothing. */
  unarchive(principal: Principal, id: string): Promise<Form> {
    return this.#turn(principal, id, 'form.unarchived', ['archived'], ({ version }) => (version > 0 ? 'paused' : 'draft'))
  }

  /** Lists versions, newest first. */
  async versions(principal: Principal, { id, limit, cursor }: PageQuery & { readonly id: string }): Promise<Page<FormVersion>> {
    const form = await this.#get(principal, id)
    const all = Array.from({ length: form.record.version }, (_, at) => form.record.version - at)
    const order = { positionOf: (version: number) => [version], descending: true }
    const { rows, nextCursor } = pageOfLoaded(formVersions, principal, all, { limit, cursor }, order)
    const { organizationId } = principal
    const found = await this.#core.database.getMany(
      formVersions,
      { organizationId },
      rows.map((version) => versionId(id, version)),
    )
    return { rows: found.flatMap((stored) => (stored ? [stored.record] : [])), nextCursor }
  }

  /** Throws `not_found` for a missing form or version. */
  async version(principal: Principal, id: string, version: number): Promise<FormVersion> {
    return this.#version(principal, (await this.#get(principal, id)).record, version)
  }

  /** Compares a version with another version, by default the previous one. */
  async diff(principal: Principal, id: string, version: number, against = version - 1): Promise<readonly DefinitionChange[]> {
    const { record: form } = await this.#get(principal, id)
    const [before, after] = [await this.#version(principal, form, against), await this.#version(principal, form, version)]
    return diffDefinitions(before.definition, after.definition)
  }

  async #publish(change: Change, principal: Principal, stored: Stored<Form>, definition: Definition, facts: VersionFacts): Promise<Form> {
    const { organizationId, credentialId: publishedBy } = principal
    const { record: before } = stored
    const { id: formId } = before
    const now = this.#core.clock.now()
    const current = before.version === 0 ? undefined : await this.#version(principal, before, before.version)
    const isNew = !current || !isDeepStrictEqual(current.definition, definition)
    if (!isNew && before.status === 'published') return before
    const version = before.version + (isNew ? 1 : 0)
    const form: Form = { ...before, status: 'published', version, publishedAt: now, updatedAt: now }
    change.replace(forms, organizationId, stored, form)
    noteForm(change, principal, form, now)
    if (isNew)
      change.insert(formVersions, organizationId, {
        ...{ id: versionId(formId, version), formId, version, definition },
        ...{ ...facts, publishedBy, createdAt: now },
      })
    return form
  }

  #turn(principal: Principal, id: string, action: string, from: readonly FormStatus[], to: (form: Form) => FormStatus): Promise<Form> {
    return this.#core.writes.runAudited(principal, action, async (change) => {
      const stored = await this.#get(principal, id)
      const { status } = stored.record
      if (!from.includes(status)) {
        if (isThere(action, status)) return stored.record
        throw new Refusal('conflict', `The form is ${status}; ${waysOut[status]}.`)
      }
      const form = { ...stored.record, status: to(stored.record), updatedAt: this.#core.clock.now() }
      change.replace(forms, principal.organizationId, stored, form)
      noteForm(change, principal, form, form.updatedAt)
      return form
    })
  }

  async #open(principal: Principal, id: string): Promise<Stored<Form>> {
    const stored = await this.#get(principal, id)
    if (stored.record.status !== 'archived') return stored
    throw new Refusal('conflict', `The form is archived; ${waysOut.archived}.`)
  }

  async #version({ organizationId }: Principal, form: Form, version: number): Promise<FormVersion> {
    const stored = await this.#core.database.get(formVersions, { organizationId }, versionId(form.id, version))
    if (stored) return stored.record
    const there = form.version === 0 ? 'it was never published' : `its versions are 1 to ${form.version}`
    throw new Refusal('not_found', `The form has no version ${version}; ${there}.`)
  }

  #get(principal: Principal, id: string): Promise<Stored<Form>> {
    return must(this.#core.database, forms, principal, id)
  }
}

/** Whether the form already has the status that the action sets. */
const isThere = (action: string, status: FormStatus): boolean =>
  action === `form.${status}` ||
  (action === 'form.resumed' && status === 'published') ||
  (action === 'form.unarchived' && status !== 'archived')

const waysOut: Readonly<Record<FormStatus, string>> = {
  draft: 'publish it first',
  published: 'pause or archive it',
  paused: 'resume or archive it',
  archived: 'unarchive it first',
}
