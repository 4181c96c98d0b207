/** Exports all submissions of a form, with the columns of all versions. */
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { must } from '../../writes/transact.ts'
import { valueKinds } from '../definition/field-properties.ts'
import { inReadingOrder } from '../definition/layout.ts'
import { forms, formVersions, versionId } from '../form.ts'
import { formSubmissions, type FormSubmission, type SubmissionStatus } from './submission.ts'

export interface ExportOptions {
  readonly id: string
  /** Defaults to all statuses except spam. */
  readonly status?: SubmissionStatus | undefined
  /** Field keys in column order; defaults to all fields. */
  readonly columns?: readonly string[] | undefined
}

export interface SubmissionExport {
  readonly name: string
  /** Field keys, those of the newest version first. */
  readonly columns: readonly string[]
  readonly rows: AsyncIterable<FormSubmission>
}

/** Number of records read at once. */
const step = 100

export class SubmissionExports {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Returns the rows, oldest first. Throws `not_found` for a form outside the caller's reach. */
  async open(principal: Principal, { id, status, columns }: ExportOptions): Promise<SubmissionExport> {
    const { record: form } = await must(this.#core.database, forms, principal, id)
    return {
      name: form.name,
      columns: columns ?? (await this.#columns(principal, id, form.version)),
      rows: this.#rows(principal, id, status),
    }
  }

  async #columns({ organizationId }: Principal, id: string, latest: number): Promise<readonly string[]> {
    const keys = new Set<string>()
    for (let version = latest; version > 0; version--) {
      const stored = await this.#core.database.get(formVersions, { organizationId }, versionId(id, version))
      for (const { key, type } of stored ? inReadingOrder(stored.record.definition.schema) : [])
        if (valueKinds[type] !== 'none') keys.add(key)
    }
    return [...keys]
  }

  async *#rows({ organizationId }: Principal, id: string, status: SubmissionStatus | undefined): AsyncGenerator<FormSubmission> {
    const walk = status === undefined ? { values: [id] } : { index: 'status', values: [id, status] }
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const options = { ...walk, limit: step, cursor, ascending: true }
      const { rows, nextCursor } = await this.#core.database.list(formSubmissions, { organizationId }, options)
      for (const { record } of rows) if (status !== undefined || record.status !== 'spam') yield record
      cursor = nextCursor
    }
  }
}
