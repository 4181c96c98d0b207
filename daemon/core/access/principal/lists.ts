/** Paging and visibility that all lists of the core share. */
import { cursorAt, keyAt } from '#store/cursor.ts'
import type { Database, ListOptions, Page, Visibility, Sieve } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { reachableProject } from './project-choice.ts'
import type { Principal } from './principal.ts'

/** Requests at most `limit` entries after the page that returned the cursor. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Narrows a list to one project that the caller can reach. */
export interface OfProject {
  readonly projectId?: string | undefined
}

/** A noun that can be listed. A cursor is valid only for the list that returned it; any other cursor throws `CursorInvalid`. */
export interface List<Filter, Row> {
  list(principal: Principal, query: PageQuery & Filter): Promise<Page<Row>>
}

/** Dependencies of the list functions. */
export interface ListParts {
  readonly database: Database
  readonly policies: { of(organizationId: string): Promise<{ readonly projects: ReadonlyMap<string, unknown> }> }
}

/** Sort order and filter of a list; newest first by id unless `index` is set. */
export type Walk<R> = Pick<ListOptions, 'index' | 'values' | 'ascending'> & {
  readonly sieve?: Sieve<R>
  /** The visible records; defaults to the records of the project that narrows the list. */
  readonly reach?: Visibility
}

/**
 * Selects entries that no index can select. A page reads at most `maxLooks` entries and is shorter if fewer fit; its cursor continues after
 * them. The list ends at the first entry with `isPast`.
 */
export const sieve = <R>(fits: (record: R) => boolean, isPast?: (record: R) => boolean, maxLooks = 5000): Sieve<R> => ({
  maxLooks,
  sort: (record) => (isPast?.(record) ? 'end' : fits(record) ? 'take' : 'pass'),
})

/**
 * Returns a page of records that the caller can reach. The query's project narrows it, or the project of a bound principal. Throws
 * `not_found` for a project that the caller cannot reach.
 */
export async function listReachable<R extends Identified>(
  parts: ListParts,
  kind: RecordKind<R>,
  principal: Principal,
  { projectId, limit, cursor }: PageQuery & OfProject,
  walkOf: (projectId: string | undefined) => Walk<R> = () => ({}),
): Promise<Page<R>> {
  const { project, reach: ofProject } = await listed(parts, principal, projectId)
  const { sieve: chosen, reach = ofProject, ...walk } = walkOf(project)
  return recordsOf(await parts.database.list(kind, reach, { ...walk, limit, cursor }, chosen))
}

/**
 * Returns the project that narrows a list, if any, and the visible records. Throws `not_found` for a project that the caller cannot reach.
 */
export async function listed(
  { policies }: ListParts,
  principal: Principal,
  projectId: string | undefined,
): Promise<{ readonly project: string | undefined; readonly reach: Visibility }> {
  const { projects } = await policies.of(principal.organizationId)
  const project = reachableProject(principal, projects, projectId, 'project')
  return { project, reach: project === undefined ? principal : { ...principal, projectId: project, bound: true } }
}

/** Reads a kind by its `project` index. */
export const byProject = (projectId: string | undefined): Walk<never> =>
  projectId === undefined ? {} : { index: 'project', values: [projectId] }

/** Returns the page without record versions. */
export const recordsOf = <R>(page: Page<Stored<R>>): Page<R> => mapRows(page, ({ record }) => record)

export const mapRows = <From, To>({ rows, nextCursor }: Page<From>, to: (row: From) => To): Page<To> => ({
  rows: rows.map((row) => to(row)),
  nextCursor,
})

/** Sort order of a list in memory. `positionOf` returns a different position for every record. */
interface Order<R> {
  readonly positionOf: (record: R) => readonly Element[]
  readonly descending?: boolean
}

/**
 * Returns a page of records in memory, which the caller passes in list order. The cursor names a position and remains valid if its record
 * is deleted.
 */
export function pageOfLoaded<R>(
  { name }: { readonly name: string },
  { organizationId }: Pick<Principal, 'organizationId'>,
  all: readonly R[],
  { limit, cursor }: PageQuery,
  { positionOf, descending = false }: Order<R>,
): Page<R> {
  const list = [organizationId, name]
  const keyOf = (record: R): Uint8Array => pack([...list, ...positionOf(record)])
  const last = cursor === undefined ? undefined : keyAt(list, cursor)
  const rest = last ? all.filter((record) => Buffer.compare(keyOf(record), last) * (descending ? -1 : 1) > 0) : all
  const rows = rest.slice(0, limit)
  const end = limit < rest.length ? rows.at(-1) : undefined
  return { rows, nextCursor: end && cursorAt(list, keyOf(end)) }
}

/** Sorts by creation, because ids are ascending. */
export const byId = { positionOf: ({ id }: Identified): readonly Element[] => [id] }
