/** Organizations by the store: all of them, for the operator and for recurring work, and the team organizations of one. */
import type { Database } from '#store/database.ts'
import { lookupPrefix } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { organizations, projects, type Organization } from './organization.ts'

/** Organization ids, and nothing else, begin so. */
const first = pack(['org_'])
const end = pack(['org`'])

/**
 * Every organization, in order of id; one seek each. Each is read when its turn comes, as work for the one before can take long.
 * Not for what a tenant can reach.
 */
export async function* allOrganizations(database: Database): AsyncGenerator<Organization> {
  for await (const id of organizationIds(database, undefined, false)) yield* await organizationsOf(database, [id])
}

/** The first `limit` organizations after the one with this id. Not for what a tenant can reach. */
export async function organizationsAfter(database: Database, afterId: string | undefined, limit: number): Promise<Organization[]> {
  const found: Organization[] = []
  for (let last = afterId; found.length < limit;) {
    const ids: string[] = []
    for await (const id of organizationIds(database, last, true)) {
      ids.push(id)
      if (found.length + ids.length === limit) break
    }
    if (ids.length === 0) break
    found.push(...(await organizationsOf(database, ids)))
    last = ids.at(-1)
  }
  return found
}

async function* organizationIds(database: Database, afterId: string | undefined, whole: boolean): AsyncGenerator<string> {
  for (let start = afterId === undefined ? first : within([afterId]).end; ;) {
    let id: string | undefined
    for await (const { key } of database.kv.range({ start, end, limit: 1, whole })) id = String(unpack(key)[0])
    if (id === undefined) return
    yield id
    start = within([id]).end
  }
}

/** The organizations that this one made and that are alive, the oldest first. */
export async function teamOrganizations(database: Database, ownerId: string): Promise<Organization[]> {
  const ids: string[] = []
  for await (const { key } of database.kv.range({ ...within([...lookupPrefix(organizations.name, 'owner'), ownerId]), whole: true }))
    ids.push(String(unpack(key).at(-1)))
  return organizationsOf(database, ids)
}

const organizationsOf = async (database: Database, ids: readonly string[]): Promise<Organization[]> =>
  (await database.getOwn(organizations, ids)).flatMap((stored) => (stored ? [stored.record] : []))

/** Whether neither the project nor its organization is deleted, or being deleted. */
export async function isAlive(database: Database, organizationId: string, projectId: string): Promise<boolean> {
  const [organization, project] = await Promise.all([
    database.get(organizations, { organizationId }, organizationId),
    database.get(projects, { organizationId }, projectId),
  ])
  return organization?.record.deletedAt === undefined && project !== undefined && project.record.deletedAt === undefined
}
