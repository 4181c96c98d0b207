/** The sign-in link that the operator of the service makes for somebody: the way in without mail, and for the first owner. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Clock } from '../../clock.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { addLoginLink, loginLinkMs, startPage } from './login-link.ts'
import { hasOwner } from '../members/members.ts'
import { identityOf } from '../users/user.ts'

/**
 * Returns the path of a link for this address, whether it has an account or not. Whoever uses it becomes the owner of the
 * first organization while that has none. Throws `validation_failed` for what is no address.
 */
export async function operatorLink(database: Database, clock: Clock, email: string): Promise<string> {
  const change = new Change()
  const ownerOf = await organizationWithoutOwner(database)
  const secret = addLoginLink(change, { email: identityOf(email), ownerOf, next: startPage, expiresAt: clock.now() + loginLinkMs })
  await database.commit(change)
  return loginLinkPath(secret)
}

/** Where a link leads, on the public address of the service. */
export const loginLinkPath = (secret: string): string => `/sign-in/link/${secret}`

/** The first organization, when it has no owner. */
async function organizationWithoutOwner(database: Database): Promise<string | null> {
  for await (const { id } of allOrganizations(database)) return (await hasOwner(database, id)) ? null : id
  return null
}
