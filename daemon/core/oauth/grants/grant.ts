/**
 * Record of a grant: the permissions that a user or an anonymous caller gave a client. Tokens, codes and refresh tokens all refer to it.
 */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { oauthScopes } from '../protocol/scopes.ts'

const schema = z.strictObject({
  id: z.string(),
  clientId: z.string(),
  clientName: z.string(),
  /** The only project that the grant covers. */
  projectId: z.string(),
  /** Null for anonymous callers. */
  userId: z.string().nullable(),
  /** Maximum scopes of its tokens, over all surfaces. */
  scopes: z.array(z.enum(oauthScopes)),
  /** Tools for organization settings reach beyond the project, as far as the role of the user allows. */
  reachesOrganization: z.literal(true).optional(),
  /** Groups of tools that an agent can see and call; absent for all groups. */
  toolsets: z.array(z.string()).optional(),
  createdAt: z.int(),
  /** No token is issued after this time. Until the code is exchanged, this is the expiry of the code. */
  expiresAt: z.int(),
  revokedAt: z.int().nullable(),
})

export type Grant = Immutable<z.infer<typeof schema>>

export const oauthGrants = defineRecord<Grant>({
  name: 'oauth_grant',
  schema,
  isSetting: true,
  // tokens refer to their grant by id only, because a grant can move to another organization
  lookups: { id: (grant) => [[grant.id]] },
  projectOf: (grant) => grant.projectId,
})

/** A grant with its current organization. */
export type StoredGrant = Stored<Grant> & { readonly organizationId: string }

/** Returns whether the grant exists in the organization and has not been revoked. */
export const grantStands =
  (database: Database) =>
  async (organizationId: string, id: string): Promise<boolean> =>
    (await database.get(oauthGrants, { organizationId }, id))?.record.revokedAt === null

/** Adds the end of all grants of the user in the organization to the write. They must not become valid again if the user rejoins. */
export async function endGrantsOf(database: Database, change: Change, organizationId: string, userId: string, now: number): Promise<void> {
  for (const stored of await database.all(oauthGrants, { organizationId })) {
    const { record } = stored
    if (record.userId === userId && record.revokedAt === null)
      change.replace(oauthGrants, organizationId, stored, { ...record, revokedAt: now })
  }
}
