/** Whether an address belongs to a member, whose address is already verified and needs no confirmation link. */
import type { Database } from '#store/database.ts'
import { members } from '../../people/members/member.ts'
import { userByEmail } from '../../people/users/user.ts'

/** `email` must be folded. */
export async function isMember(database: Database, organizationId: string, email: string): Promise<boolean> {
  const user = await userByEmail(database, email)
  if (!user || user.record.isUnproved) return false
  return (await database.get(members, { organizationId }, user.record.id)) !== undefined
}
