/** Sign-in links that the operator creates: for a service without mail, and for the first owner. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Clock } from '../../clock.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { addLoginLink, loginLinkMs, safePath } from './login-link.ts'
import { hasOwner } from '../members/members.ts'
import { identityOf } from '../users/user.ts'

/**
 * Returns the path of a link for this address, with or without an account. The sign-in leads to the page `next`. If the first organization
 * has no owner, the user of the link becomes its owner. Throws `validation_failed` for an invalid address.
 */
export async function operatorLink(database: Database, clock: Clock, email: string, next?: string): Promise<string> {
  const change = new Change()
  const ownerOf = await organizationWithoutOwner(database)
  const link = { email: identityOf(email), ownerOf, next: safePath(next), expiresAt: clock.now() + loginLinkMs }
  const secret = addLoginLink(change, link)
  await database.commit(change)
  return loginLinkPath(secret)
}

/** Path of a login link, relative to the public URL of the service. */
export const loginLinkPath = (secret: string): string => `/sign-in/link/${secret}`

/** Returns the first organization if it has no owner, otherwise null. */
async function organizationWithoutOwner(database: Database): Promise<string | null> {
  for await (const { id } of allOrganizations(database)) return (await hasOwner(database, id)) ? null : id
  return null
}
