/** All organizations of the store, for the operator and for recurring work; nothing that a tenant can reach uses this. */
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { organizations, type Organization } from './organization.ts'

/** Organization ids, and nothing else, begin so. */
const first = pack(['org_'])
const end = pack(['org`'])

/** Every organization after the one with this id, in order of id; one seek and one look-up each. */
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
