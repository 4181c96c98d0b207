/** Lists of the core: how every one of them is asked for, and what they have in common. */
import { CursorInvalid, cursorAt, keyAt } from '#store/cursor.ts'
import type { Database, ListOptions, Page, Sieve } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { pack, unpack } from '#store/tuple.ts'
import { reachableProject } from './project-choice.ts'
import type { Scope } from './scope.ts'

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
  list(scope: Scope, query: PageQuery & Filter): Promise<Page<Row>>
}

interface ListParts {
  readonly database: Database
  readonly policies: { of(organizationId: string): Promise<{ readonly projects: ReadonlyMap<string, unknown> }> }
}

/** How the store is walked for a list; by id, the newest first, by default. */
type Walk<R> = Pick<ListOptions, 'index' | 'values' | 'ascending'> & { readonly sieve?: Sieve<R> }

/**
 * A page of what the caller reaches: of the project that the query names, or of the one that a bound scope is kept to, or of all.
 * Throws `not_found` for a project out of reach.
 */
export async function listReachable<R extends Identified>(
  { database, policies }: ListParts,
  kind: RecordKind<R>,
  scope: Scope,
  { projectId, limit, cursor }: PageQuery & OfProject,
  walkOf: (projectId: string | undefined) => Walk<R> = () => ({}),
): Promise<Page<R>> {
  const { projects } = await policies.of(scope.organizationId)
  const project = reachableProject(scope, projects, projectId, 'project')
  const reach = project === undefined ? scope : { ...scope, projectId: project, bound: true }
  const { sieve, ...walk } = walkOf(project)
  return recordsOf(await database.list(kind, reach, { ...walk, limit, cursor }, sieve))
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

/** A page of records that are in memory, in their order there. A cursor whose record has gone throws `CursorInvalid`. */
export function pageOfLoaded<R extends Identified>(
  { name }: { readonly name: string },
  { organizationId }: Pick<Scope, 'organizationId'>,
  all: readonly R[],
  { limit, cursor }: PageQuery,
): Page<R> {
  const list = [organizationId, name]
  const last = cursor === undefined ? undefined : unpack(keyAt(list, cursor)).at(-1)
  const at = all.findIndex(({ id }) => id === last) + 1
  if (cursor !== undefined && at === 0) throw new CursorInvalid()
  const rows = all.slice(at, at + limit)
  const end = at + limit < all.length ? rows.at(-1) : undefined
  return { rows, nextCursor: end && cursorAt(list, pack([...list, end.id])) }
}
