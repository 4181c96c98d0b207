/** Who the command line of the same machine is, by the token of this run that lies in the data folder. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Database } from '#store/database.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import type { Principal } from './principal/principal.ts'

/** The credential of whoever knows the token of this run. */
export const commandLine = 'command_line'

/** As `next`, and an administrator of the first organization for whoever knows the token. Whoever can read it has the master key, too. */
export function orRunToken(
  database: Database,
  token: string,
  next: (secret: string) => Promise<Principal>,
): (secret: string) => Promise<Principal> {
  const digest = hash('sha256', token, 'buffer')
  const matches = (secret: string): boolean => secret.length === token.length && timingSafeEqual(hash('sha256', secret, 'buffer'), digest)
  return async (secret) => (matches(secret) ? await administrator(database) : undefined) ?? next(secret)
}

async function administrator(database: Database): Promise<Principal | undefined> {
  for await (const { id, defaultProjectId } of allOrganizations(database))
    return { organizationId: id, projectId: defaultProjectId, bound: false, scopes: ['api:admin'], credentialId: commandLine }
  return undefined
}
