/** Lists of the core: how every one of them is asked for, and what they have in common. */
import { cursorAt, keyAt } from '#store/cursor.ts'
import type { Database, ListOptions, Page, Visibility, Sieve } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { reachableProject } from './project-choice.ts'
import type { Principal } from './principal.ts'

/** At most `limit` entries, behind those of the page that gave out the cursor. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Narrows a list to one project that the caller reaches. */
export interface OfProject {
  readonly projectId?: string | undefined
}

/** What can be listed. Every cursor is good for the list that gave it out; another throws `CursorInvalid`. */
export interface List<Filter, Row> {
  list(principal: Principal, query: PageQuery & Filter): Promise<Page<Row>>
}

/** What lists are read with. */
export interface ListParts {
  readonly database: Database
  readonly policies: { of(organizationId: string): Promise<{ readonly projects: ReadonlyMap<string, unknown> }> }
}

/** How the store is walked for a list; by id, the newest first, by default. */
export type Walk<R> = Pick<ListOptions, 'index' | 'values' | 'ascending'> & {
  readonly sieve?: Sieve<R>
  /** The records that are walked; by default those of the project that the list is narrowed to. */
  readonly reach?: Visibility
}

/**
 * Chooses among the entries of a list what no index can choose. A page looks at `maxLooks` entries at most and is short where fewer of
 * them fit; its cursor goes on behind them. The list ends at the first entry that is past.
 */
export const sieve = <R>(fits: (record: R) => boolean, isPast?: (record: R) => boolean, maxLooks = 5000): Sieve<R> => ({
  maxLooks,
  sort: (record) => (isPast?.(record) ? 'end' : fits(record) ? 'take' : 'pass'),
})

/**
 * A page of what the caller reaches: of the project that the query names, or of the one that a bound principal is kept to, or of all.
 * Throws `not_found` for a project out of reach.
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

/** The project that a list is narrowed to, if any, and what is listed. Throws `not_found` for a project out of reach. */
export async function listed(
  { policies }: ListParts,
  principal: Principal,
  projectId: string | undefined,
): Promise<{ readonly project: string | undefined; readonly reach: Visibility }> {
  const { projects } = await policies.of(principal.organizationId)
  const project = reachableProject(principal, projects, projectId, 'project')
  return { project, reach: project === undefined ? principal : { ...principal, projectId: project, bound: true } }
}

/** The walk of a kind that has an index by project. */
export const byProject = (projectId: string | undefined): Walk<never> =>
  projectId === undefined ? {} : { index: 'project', values: [projectId] }

/** The page without the versions of its records. */
export const recordsOf = <R>(page: Page<Stored<R>>): Page<R> => mapRows(page, ({ record }) => record)

export const mapRows = <From, To>({ rows, nextCursor }: Page<From>, to: (row: From) => To): Page<To> => ({
  rows: rows.map((row) => to(row)),
  nextCursor,
})

/** The order of a list in memory: the elements by which its entries stand in it, unlike for every two of them. */
interface Order<R> {
  readonly positionOf: (record: R) => readonly Element[]
  readonly descending?: boolean
}

/** A page of records that are in memory, in their order. The cursor stands on a place, and is good when the entry there has gone. */
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

/** The order of creation. */
export const byId = { positionOf: ({ id }: Identified): readonly Element[] => [id] }
