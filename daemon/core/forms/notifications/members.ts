/** Which addresses need no link, since their owners are members of the organization and have proved them. */
import type { Database } from '#store/database.ts'
import { members } from '../../people/members/member.ts'
import { userByEmail } from '../../people/users/user.ts'

/** `email` is folded already. */
export async function isMember(database: Database, organizationId: string, email: string): Promise<boolean> {
  const user = await userByEmail(database, email)
  if (!user || user.record.isUnproved) return false
  return (await database.get(members, { organizationId }, user.record.id)) !== undefined
}
