/** Imports many suppressions: stores the whole file, counts its rows, adds them in small writes and reports the result of each row. */
import type { Change } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import type { Core } from '../../core.ts'
import { requireReach } from '../../access/principal/organization-acts.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { addSuppressions, wouldAdd } from './add-suppressions.ts'
import { keptBytes, receivedRows } from './received-rows.ts'
import type { Suppression } from './suppression.ts'
import { newEntry, type NewSuppression } from './suppressions.ts'
import { giveWay } from '../../event-loop.ts'

/** A parsed row: its fields, or the problem that prevents parsing. */
export type GivenRow = { readonly fields: Readonly<Record<string, unknown>> } | { readonly problem: string }

export interface ImportRequest {
  readonly bytes: AsyncIterable<Uint8Array>
  /**
   * Parses rows in batches. Called twice: while the bytes arrive, and again on the stored bytes. Throws if the input cannot be parsed
   * further.
   */
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<readonly GivenRow[]>
  /** Reads the fields of a row. Throws a `Refusal` for an invalid field. */
  readonly toEntry: (fields: Readonly<Record<string, unknown>>) => NewSuppression
  /** Adds nothing; the report shows the result of a real import. */
  readonly isDryRun?: boolean
  /** Aborts an import that has not added rows yet. */
  readonly signal: AbortSignal
}

export interface RefusedRow {
  /** The given address, shortened; null if it was not text. */
  readonly email: string | null
  readonly message: string
}

export const rowResults = ['added', 'already_there', 'refused'] as const
export type RowResult = (typeof rowResults)[number]

export interface ImportReport {
  readonly counts: Readonly<Record<RowResult, number>>
  /** In order; index 0 is row 1. */
  readonly results: readonly RowResult[]
  /** Refused rows by row number. */
  readonly refused: ReadonlyMap<number, RefusedRow>
}

/** Spec "Limits" 12. */
export const maxImportRows = 50_000
/** Rows processed per turn of the event loop, about two milliseconds. */
const stepRows = 100
/** Maximum number of entries per write. */
const batchRows = 200
const maxShownEmail = 320

type Batch = readonly { readonly row: number; readonly entry: Suppression }[]

interface ImportAct {
  readonly rows: number
  /** The audit log has the import already: the first write that changes the list records it. */
  isNoted: boolean
  /** In a dry run, the addresses that earlier batches would have added. */
  readonly tried: Set<string> | undefined
  /** The latest batch had only new addresses, as most lists do. The next batch is expected to have only new addresses too. */
  expectsNew: boolean
}

export class SuppressionImport {
  readonly #options: Core

  constructor(options: Core) {
    this.#options = options
  }

  /**
   * Imports the rows. A refused row does not affect the others. The row count and the whole file are checked before the first row is added;
   * an earlier refusal leaves no entry. Resolves when every row that is not refused is on the list.
   */
  async run(principal: Principal, request: ImportRequest): Promise<ImportReport> {
    requireReach(principal, 'suppressions.import')
    const { database, clock } = this.#options
    const draft = new Draft(database, principal.organizationId, database.newId('imp', clock.now()))
    try {
      const rows = await receivedRows(draft, request, maxImportRows, 'Split the import into several requests.')
      // later rows are added, so only their results may be reported
      request.signal.throwIfAborted()
      return await this.#add(principal, draft, request, {
        ...{ rows, isNoted: false, expectsNew: true },
        tried: request.isDryRun ? new Set() : undefined,
      })
    } finally {
      await draft.discard()
    }
  }

  async #add(principal: Principal, draft: Draft, { rows, toEntry }: ImportRequest, act: ImportAct): Promise<ImportReport> {
    const { database, policies, clock } = this.#options
    const { projects } = await policies.of(principal.organizationId)
    const tally = new Tally()
    let batch: Batch[number][] = []
    for await (const some of rows(keptBytes(draft))) {
      for (const given of some) {
        const row = tally.next()
        try {
          if ('problem' in given) throw new Refusal('validation_failed', given.problem)
          batch.push({ row, entry: newEntry(database, principal, projects, toEntry(given.fields), 'import', clock.now()) })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          tally.refuse(row, given, error.message)
        }
        if (row % stepRows === 0) await giveWay()
        if (batch.length < batchRows) continue
        await this.#commit(principal, batch, tally, act)
        batch = []
      }
    }
    await this.#commit(principal, batch, tally, act)
    return tally
  }

  async #commit(principal: Principal, batch: Batch, tally: Tally, act: ImportAct): Promise<void> {
    const { database, clock, audit } = this.#options
    const { organizationId, credentialId } = principal
    let isNoted = false
    const also = (change: Change): void => {
      if (act.isNoted) return
      isNoted = true
      const actor = { kind: 'api_key', id: credentialId } as const
      audit.record(change, { organizationId, actor, act: 'suppression.imported', target: organizationId, details: { rows: act.rows } })
    }
    const entries = batch.map(({ entry }) => entry)
    if (act.tried) return await this.#try(organizationId, batch, tally, act.tried)
    const outcomes = await addSuppressions(database, organizationId, entries, clock.now(), { also, expectsNew: act.expectsNew })
    act.isNoted ||= isNoted
    act.expectsNew = outcomes.every(({ added }) => added)
    for (const [i, { row }] of batch.entries()) tally.settle(row, outcomes[i]?.added ? 'added' : 'already_there')
  }

  async #try(organizationId: string, batch: Batch, tally: Tally, tried: Set<string>): Promise<void> {
    const { database, clock } = this.#options
    const entries = batch.map(({ entry }) => entry)
    const outcomes = await wouldAdd(database, organizationId, entries, clock.now())
    for (const [i, { row, entry }] of batch.entries()) {
      tally.settle(row, outcomes[i]?.added && !tried.has(entry.email) ? 'added' : 'already_there')
      tried.add(entry.email)
    }
  }
}

class Tally implements ImportReport {
  readonly counts: Record<RowResult, number> = { added: 0, already_there: 0, refused: 0 }
  readonly results: RowResult[] = []
  readonly refused = new Map<number, RefusedRow>()
  /** One stored copy per message, because many rows fail for the same reason. */
  readonly #messages = new Map<string, string>()

  /** Returns the number of the next row, which counts as refused until it is settled. */
  next(): number {
    this.counts.refused++
    return this.results.push('refused')
  }

  settle(row: number, result: RowResult): void {
    this.results[row - 1] = result
    this.counts.refused--
    this.counts[result]++
  }

  refuse(row: number, given: GivenRow, message: string): void {
    if (!this.#messages.has(message)) this.#messages.set(message, message)
    const email = 'fields' in given ? given.fields['email'] : undefined
    this.refused.set(row, {
      email: typeof email === 'string' ? email.slice(0, maxShownEmail).toWellFormed() : null,
      message: this.#messages.get(message) ?? message,
    })
  }
}
