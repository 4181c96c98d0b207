/**
 * Imports lists of another service of any length. Receives the whole file, then adds its rows in small writes and reports rejected rows.
 * Repeating the import adds nothing twice, and it can start at a later row.
 */
import type { Change } from '#store/change.ts'
import { Draft } from '#store/content.ts'
import type { Core } from '../core.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import { requireReach } from '../access/principal/organization-acts.ts'
import type { Principal } from '../access/principal/principal.ts'
import { Refusal } from '../refusals.ts'
import { addOptOuts, areNew, newOptOut } from '../feedback/suppression/add-opt-outs.ts'
import { addSuppressions, wouldAdd } from '../feedback/suppression/add-suppressions.ts'
import { placeOf, type MovedRow, type NotTaken } from './moved-row.ts'
import type { OptOut } from '../feedback/suppression/opt-out.ts'
import type { Suppression } from '../feedback/suppression/suppression.ts'
import { keptBytes, receivedRows } from '../feedback/suppression/received-rows.ts'
import { newEntry } from '../feedback/suppression/suppressions.ts'
import { giveWay } from '../event-loop.ts'

export interface ListImportRequest {
  readonly bytes: AsyncIterable<Uint8Array>
  /** Parses rows in chunks. Called twice: while the bytes arrive, and again for the stored bytes. Throws if it cannot continue. */
  readonly rows: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<readonly MovedRow[]>
  readonly isDryRun: boolean
  /**
   * Project of opt-outs, by default the key's project. Also the origin of suppressions, by default the project that a key is bound to, if
   * any.
   */
  readonly projectId: string | undefined
  /** List of the unsubscribes; `*` for all lists. Defaults to the information of the other service. */
  readonly list: string | undefined
  /** First row to import; earlier rows are skipped. */
  readonly fromRow: number
  /** Aborts an import until it starts to add rows. */
  readonly signal: AbortSignal
}

export interface MovedCounts {
  readonly added: number
  readonly already_there: number
  readonly skipped: number
  readonly refused: number
}

/** Progress reports: rejected rows, the last durable row, and the summary at the end. */
export type MovedNote =
  | { readonly type: 'begin' }
  | ({ readonly type: 'row'; readonly result: 'skipped' | 'refused'; readonly message: string } & Pick<MovedRow, 'row' | 'line' | 'email'>)
  | { readonly type: 'progress'; readonly row: number }
  | ({ readonly type: 'summary'; readonly total: number } & MovedCounts)

export const maxMovedRows = 2_000_000
/** Number of rows processed without yielding, about two milliseconds. */
const stepRows = 100
/** Number of rows in one write; a multiple of `stepRows`. */
const batchRows = 200
/** Maximum length of an address in reports. */
const maxShown = 320
/** Maximum number of addresses that a dry run remembers to count duplicates. */
const maxTried = 200_000

type Placed = { readonly suppression: Suppression } | { readonly optOut: OptOut }

interface Act {
  readonly request: ListImportRequest
  readonly projects: ReadonlyMap<string, unknown>
  readonly projectId: string
  readonly rows: number
  readonly counts: { added: number; already_there: number; skipped: number; refused: number }
  isNoted: boolean
  /** Whether all rows of the latest batch were new; the next batch is then expected to be new, too. */
  expectsNew: boolean
  readonly tried: Set<string>
}

export class ListImport {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Resolves when the whole file is received and its rows are counted. Reading the returned generator adds the rows. Rows up to a
   * `progress` note are durable. The caller must read the generator to its end or call `return`.
   */
  async run(principal: Principal, request: ListImportRequest): Promise<AsyncGenerator<MovedNote>> {
    requireReach(principal, 'suppressions.import')
    const { database, clock, policies } = this.#core
    const { projects } = await policies.of(principal.organizationId)
    const projectId = owningProject(principal, projects, request.projectId)
    const draft = new Draft(database, principal.organizationId, database.newId('imp', clock.now()))
    try {
      const rows = await receivedRows(draft, request, maxMovedRows, 'Split the file.')
      request.signal.throwIfAborted()
      const counts = { added: 0, already_there: 0, skipped: 0, refused: 0 }
      const act = { request, projects, projectId, rows, counts, isNoted: false, expectsNew: true, tried: new Set<string>() }
      const notes = this.#take(principal, draft, act)
      await notes.next() // from here on, the end of the generator discards the received file
      return notes
    } catch (error) {
      await draft.discard()
      throw error
    }
  }

  async *#take(principal: Principal, draft: Draft, act: Act): AsyncGenerator<MovedNote> {
    const { request, counts, rows } = act
    try {
      yield { type: 'begin' }
      let batch: Placed[] = []
      let seen = 0
      for await (const some of request.rows(keptBytes(draft))) {
        for (const row of some) {
          if (++seen % stepRows === 0) await giveWay()
          if (row.row < request.fromRow) continue
          const placed = this.#place(principal, row, act)
          if ('type' in placed) yield placed
          else batch.push(placed)
          if (seen % batchRows > 0) continue
          await this.#commit(principal, batch, act)
          batch = []
          yield { type: 'progress', row: row.row }
        }
      }
      await this.#commit(principal, batch, act)
      yield { type: 'summary', total: rows, ...counts }
    } finally {
      await draft.discard()
    }
  }

  /** Returns the suppression or opt-out of a row, or the reason for rejecting the row. */
  #place(principal: Principal, given: MovedRow, { request, projects, projectId, counts }: Act): Placed | MovedNote {
    const { database, clock } = this.#core
    const now = clock.now()
    const place = placeOf(given, request)
    if ('result' in place) return notTaken(given, place, counts)
    const named = request.projectId === undefined ? undefined : projectId
    try {
      const { email, list } = place
      const suppression = newEntry(database, principal, projects, { email, reason: given.reason, projectId: named }, 'import', now)
      if (list === undefined) return { suppression }
      return { optOut: newOptOut(database, suppression.email, list, projectId, now) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return notTaken(given, { result: 'refused', message: error.message }, counts)
    }
  }

  async #commit(principal: Principal, batch: readonly Placed[], act: Act): Promise<void> {
    const { database, clock, audit } = this.#core
    const { organizationId, credentialId } = principal
    const entries = batch.flatMap((one) => ('suppression' in one ? [one.suppression] : []))
    const left = batch.flatMap((one) => ('optOut' in one ? [one.optOut] : []))
    if (act.request.isDryRun) return await this.#try(organizationId, entries, left, act)
    let isNoted = false
    const also = (change: Change): void => {
      if (act.isNoted) return
      isNoted = true
      const actor = { kind: 'api_key', id: credentialId } as const
      audit.record(change, { organizationId, actor, act: 'suppression.imported', target: organizationId, details: { rows: act.rows } })
    }
    if (entries.length > 0) {
      const outcomes = await addSuppressions(database, organizationId, entries, clock.now(), { also, expectsNew: act.expectsNew })
      act.expectsNew = outcomes.every(({ added }) => added)
      for (const { added } of outcomes) act.counts[added ? 'added' : 'already_there']++
      act.isNoted ||= isNoted
    }
    if (left.length === 0) return
    for (const isNew of await addOptOuts(database, organizationId, left, also)) act.counts[isNew ? 'added' : 'already_there']++
    act.isNoted ||= isNoted
  }

  async #try(organizationId: string, entries: readonly Suppression[], left: readonly OptOut[], act: Act): Promise<void> {
    const { database, clock } = this.#core
    const added = (await wouldAdd(database, organizationId, entries, clock.now())).map((one) => one.added)
    const isNew = await areNew(database, organizationId, left)
    const count = (place: string, wouldBe: boolean | undefined): void => {
      act.counts[wouldBe && !act.tried.has(place) ? 'added' : 'already_there']++
      if (act.tried.size === maxTried) act.tried.clear()
      act.tried.add(place)
    }
    for (const [i, { email }] of entries.entries()) count(email, added[i])
    for (const [i, { email, list }] of left.entries()) count(`${list}\n${email}`, isNew[i])
  }
}

function notTaken({ row, line, email }: MovedRow, { result, message }: NotTaken, counts: Act['counts']): MovedNote {
  counts[result]++
  return { type: 'row', row, line, result, email: email?.slice(0, maxShown).toWellFormed() ?? null, message }
}
