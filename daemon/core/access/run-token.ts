/** Authenticates the command line of the same machine with the run token, which the daemon stores in the data folder. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Database } from '#store/database.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import type { Principal } from './principal/principal.ts'

/** Credential id of callers that present the run token. */
export const commandLine = 'command_line'

/**
 * Authenticates the run token as an administrator of the first organization, and passes other secrets to `next`. A reader of the run token
 * can read the master key as well, so that it grants no additional access.
 */
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
