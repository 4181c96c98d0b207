/** What somebody allowed a client to do: the one thing that tokens, codes and refresh tokens lead back to. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Stored } from '#store/record-kind.ts'
import * as z from 'zod'
import { oauthScopes, type OAuthScope } from '../protocol/scopes.ts'

export interface Grant {
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  /** The one project that it is good for. */
  readonly projectId: string
  /** null: anonymous. */
  readonly userId: string | null
  /** The most that a token of it may have, on all of its surfaces. */
  readonly scopes: readonly OAuthScope[]
  readonly createdAt: number
  /** After this no token of it is issued any more; until its code is used that is the end of the code. */
  readonly expiresAt: number
  readonly revokedAt: number | null
}

export const oauthGrants = defineRecord<Grant>({
  name: 'oauth_grant',
  schema: z.strictObject({
    id: z.string(),
    clientId: z.string(),
    clientName: z.string(),
    projectId: z.string(),
    userId: z.string().nullable(),
    scopes: z.array(z.enum(oauthScopes)),
    createdAt: z.int(),
    expiresAt: z.int(),
    revokedAt: z.int().nullable(),
  }),
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
