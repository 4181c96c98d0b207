/** Lists organizations from the store: all, for the operator and recurring work, and the team organizations of one organization. */
import type { Database } from '#store/database.ts'
import { lookupPrefix } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { organizations, projects, type Organization } from './organization.ts'

/** Prefix of organization ids; no other ids have it. */
const first = pack(['org_'])
const end = pack(['org`'])

/**
 * Yields every organization in order of id, with one seek each. Reads each record only when needed, because the caller's work can be slow.
 * Must not be used for requests of tenants.
 */
export async function* allOrganizations(database: Database): AsyncGenerator<Organization> {
  for await (const id of organizationIds(database, undefined, false)) yield* await organizationsOf(database, [id])
}

/** Like `allOrganizations`, without deleted organizations. */
export async function* livingOrganizations(database: Database): AsyncGenerator<Organization> {
  for await (const organization of allOrganizations(database)) if (organization.deletedAt === undefined) yield organization
}

/** Returns the first `limit` organizations after this id. Must not be used for requests of tenants. */
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

/** Returns the active organizations that this organization created, oldest first. */
export async function teamOrganizations(database: Database, ownerId: string): Promise<Organization[]> {
  const ids: string[] = []
  for await (const { key } of database.kv.range({ ...within([...lookupPrefix(organizations.name, 'owner'), ownerId]), whole: true }))
    ids.push(String(unpack(key).at(-1)))
  return organizationsOf(database, ids)
}

const organizationsOf = async (database: Database, ids: readonly string[]): Promise<Organization[]> =>
  (await database.getOwn(organizations, ids)).flatMap((stored) => (stored ? [stored.record] : []))

/** Returns whether neither the project nor its organization is deleted. */
export async function isAlive(database: Database, organizationId: string, projectId: string): Promise<boolean> {
  const [organization, project] = await Promise.all([
    database.get(organizations, { organizationId }, organizationId),
    database.get(projects, { organizationId }, projectId),
  ])
  return organization?.record.deletedAt === undefined && project !== undefined && project.record.deletedAt === undefined
}
