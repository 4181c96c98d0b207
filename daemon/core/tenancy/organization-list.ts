/** Organizations by the store: all of them, for the operator and for recurring work, and the team organizations of one. */
import type { Database } from '#store/database.ts'
import { lookupPrefix } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { organizations, projects, type Organization } from './organization.ts'

/** Organization ids, and nothing else, begin so. */
const first = pack(['org_'])
const end = pack(['org`'])

/** Every organization after the one with this id, in order of id; one seek and one look-up each. Not for what a tenant can reach. */
export async function* allOrganizations(database: Database, afterId?: string): AsyncGenerator<Organization> {
  for (let start = afterId === undefined ? first : within([afterId]).end; ;) {
    let id: string | undefined
    for await (const { key } of database.kv.range({ start, end, limit: 1 })) id = String(unpack(key)[0])
    if (id === undefined) return
    const stored = await database.get(organizations, { organizationId: id }, id)
    if (stored) yield stored.record
    start = within([id]).end
  }
}

/** The organizations that this one made and that are alive, the oldest first. */
export async function teamOrganizations(database: Database, ownerId: string): Promise<Organization[]> {
  const found: Organization[] = []
  for await (const { key } of database.kv.range(within([...lookupPrefix(organizations.name, 'owner'), ownerId]))) {
    const id = String(unpack(key).at(-1))
    const stored = await database.get(organizations, { organizationId: id }, id)
    if (stored) found.push(stored.record)
  }
  return found
}

/** Whether neither the project nor its organization is deleted, or being deleted. */
export async function isAlive(database: Database, organizationId: string, projectId: string): Promise<boolean> {
  const [organization, project] = await Promise.all([
    database.get(organizations, { organizationId }, organizationId),
    database.get(projects, { organizationId }, projectId),
  ])
  return organization?.record.deletedAt === undefined && project !== undefined && project.record.deletedAt === undefined
}
