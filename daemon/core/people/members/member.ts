/** Record of a membership: a user, an organization and the user's role. */
import type { Database } from '#store/database.ts'
import { decode } from '#store/change.ts'
import { defineRecord, lookupPrefix, type Immutable } from '#store/record-kind.ts'
import { within } from '#store/tuple.ts'
import * as z from 'zod'
import { roles } from '../../access/principal/role.ts'

const schema = z.strictObject({
  /** Id of the user. */
  id: z.string(),
  organizationId: z.string(),
  role: z.enum(roles),
  joinedAt: z.int(),
})

export type Member = Immutable<z.infer<typeof schema>>

export const members = defineRecord<Member>({
  name: 'member',
  schema,
  lookups: { user: ({ id, organizationId }) => [[id, organizationId]] },
  isSetting: true,
})

/** Returns all memberships of a user, in order of organization creation. */
export async function membershipsOf(database: Database, userId: string): Promise<Member[]> {
  const found: Member[] = []
  for await (const { value } of database.kv.range(within([...lookupPrefix(members.name, 'user'), userId]))) {
    const [organizationId, id] = decode<[string, string]>(value)
    const stored = await database.get(members, { organizationId }, id)
    if (stored) found.push(stored.record)
  }
  return found
}
