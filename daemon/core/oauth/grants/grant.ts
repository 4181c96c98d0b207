/** What somebody allowed a client to do: the one thing that tokens, codes and refresh tokens lead back to. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { oauthScopes } from '../protocol/scopes.ts'

const schema = z.strictObject({
  id: z.string(),
  clientId: z.string(),
  clientName: z.string(),
  /** The one project that it is good for. */
  projectId: z.string(),
  /** null: anonymous. */
  userId: z.string().nullable(),
  /** The most that a token of it may have, on all of its surfaces. */
  scopes: z.array(z.enum(oauthScopes)),
  /** Tools for what belongs to the whole organization act beyond the project, as far as the role of the user goes. */
  reachesOrganization: z.literal(true).optional(),
  /** The groups of tools that an agent is shown and may call; absent for all. */
  toolsets: z.array(z.string()).optional(),
  createdAt: z.int(),
  /** After this no token of it is issued any more; until its code is used that is the end of the code. */
  expiresAt: z.int(),
  revokedAt: z.int().nullable(),
})

export type Grant = Immutable<z.infer<typeof schema>>

export const oauthGrants = defineRecord<Grant>({
  name: 'oauth_grant',
  schema,
  isSetting: true,
  // tokens name their grant alone, which may move to another organization
  lookups: { id: (grant) => [[grant.id]] },
  projectOf: (grant) => grant.projectId,
})

/** A grant where it is stored. */
export type StoredGrant = Stored<Grant> & { readonly organizationId: string }

/** Whether a grant of the organization has not been revoked. */
export const grantStands =
  (database: Database) =>
  async (organizationId: string, id: string): Promise<boolean> =>
    (await database.get(oauthGrants, { organizationId }, id))?.record.revokedAt === null

/** Adds to the write the end of whatever the user allowed in the organization: it must not come back with them. */
export async function endGrantsOf(database: Database, change: Change, organizationId: string, userId: string, now: number): Promise<void> {
  for (const stored of await database.all(oauthGrants, { organizationId })) {
    const { record } = stored
    if (record.userId === userId && record.revokedAt === null)
      change.replace(oauthGrants, organizationId, stored, { ...record, revokedAt: now })
  }
}
