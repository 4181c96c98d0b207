/** The draft of a form: stored whole after each save, with a revision against concurrent saves. */
import { isDeepStrictEqual } from 'node:util'
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import { invalid, Refusal } from '../refusals.ts'
import { must, transact } from '../writes/transact.ts'
import { checkDefinition, type CheckedDefinition } from './definition/check-definition.ts'
import { definitionLimits } from './definition/definition.ts'
import { actorOf } from '../writes/audit.ts'
import { formDrafts, forms, type Form, type FormDraft } from './form.ts'
import { noteForm } from './forms.ts'

type Content = Readonly<Record<string, unknown>>

/** A draft with the result of its check. */
export interface CheckedDraft extends Pick<CheckedDefinition, 'errors' | 'warnings'> {
  readonly draft: FormDraft
}

export class FormDrafts {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, id: string): Promise<CheckedDraft> {
    await must(this.#core.database, forms, principal, id)
    return checked((await this.#draft(principal, id)).record)
  }

  /**
   * Saves the draft, valid or not, and renames the form to the draft's name. With a revision tag, replaces only that revision. Throws
   * `draft_conflict` with the latest editor, and `validation_failed` for a definition over the size limit.
   */
  async save(principal: Principal, id: string, definition: Content, revisionTag?: string): Promise<CheckedDraft> {
    const bytes = Buffer.byteLength(JSON.stringify(definition))
    if (bytes > definitionLimits.bytes)
      throw invalid([{ path: 'body', message: `must have at most ${definitionLimits.bytes} bytes; this one has ${bytes}` }])
    const { database, clock } = this.#core
    const { organizationId, credentialId: editedBy } = principal
    const saved = await transact(database, principal, async (change) => {
      const form = await change.must(forms, id)
      const stored = await this.#draft(principal, id)
      if (revisionTag !== undefined && revisionTag !== '*' && revisionTag !== tagOf(stored.record)) throw conflict(stored.record)
      if (isDeepStrictEqual(stored.record.definition, definition)) return stored.record
      const now = clock.now()
      const draft = { id, definition, revision: stored.record.revision + 1, editedBy, editedAt: now }
      change.replace(formDrafts, organizationId, stored, draft)
      change.replace(forms, organizationId, form, { ...form.record, name: nameIn(definition) ?? form.record.name, updatedAt: now })
      noteForm(change, principal, form.record, now)
      if (isOtherSitting(stored.record, draft)) this.#record(change, principal, form.record)
      return draft
    })
    return checked(saved)
  }

  /** Checks the given definition, or the draft by default. */
  async check(principal: Principal, id: string, definition?: Content): Promise<CheckedDefinition> {
    await must(this.#core.database, forms, principal, id)
    return checkDefinition(definition ?? (await this.#draft(principal, id)).record.definition)
  }

  #record(change: Change, principal: Principal, { id: target, projectId, name }: Form): void {
    const { organizationId } = principal
    this.#core.audit.record(change, {
      organizationId,
      actor: actorOf(principal),
      act: 'form.draft_saved',
      target,
      projectId,
      details: { name },
    })
  }

  #draft({ organizationId }: Principal, id: string): Promise<Stored<FormDraft>> {
    return must(this.#core.database, formDrafts, { organizationId }, id)
  }
}

/** Returns the revision as an entity tag for `ETag` and `If-Match` (RFC 9110 §8.8.3). */
export const tagOf = ({ revision }: Pick<FormDraft, 'revision'>): string => `"${revision}"`

/** Saves by the same editor within this time are one audit event. */
const sittingMs = 10 * 60_000
const isOtherSitting = (before: FormDraft, { editedBy, editedAt }: FormDraft): boolean =>
  before.revision === 1 || before.editedBy !== editedBy || editedAt - before.editedAt > sittingMs

const checked = (draft: FormDraft): CheckedDraft => {
  const { errors, warnings } = checkDefinition(draft.definition)
  return { draft, errors, warnings }
}

function nameIn({ name }: Content): string | undefined {
  const text = typeof name === 'string' ? name.trim() : ''
  return text !== '' && text.length <= definitionLimits.name ? text : undefined
}

function conflict({ editedBy, editedAt, revision }: FormDraft): Refusal {
  const at = new Date(editedAt).toISOString()
  const message = `The draft was saved by ${editedBy} at ${at}; read it again and repeat your changes.`
  return new Refusal('draft_conflict', message, { details: { edited_by: editedBy, edited_at: at, revision } })
}
