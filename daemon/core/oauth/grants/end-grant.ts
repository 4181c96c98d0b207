/** The end of a grant, whoever ends it: no token of it works afterwards, and the keys that it created end in the same write. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { ApiKey } from '../../access/keys/api-key.ts'
import { endKeys, keysFollowing, keyWithoutApplication, type KeyFates, type KeysToKeep } from '../../access/keys/dependent-keys.ts'
import type { KeyCreator } from '../../access/principal/key-creator.ts'
import type { Actor, Audit } from '../../writes/audit.ts'
import { oauthGrants, type StoredGrant } from './grant.ts'

/** How a grant is ended. */
export interface GrantEnding {
  /** For the audit log. */
  readonly reason?: string
  /** Keys to keep: they follow their user alone from then on. */
  readonly toKeep?: KeysToKeep
  /** The keys that end with it; those created by this very grant by default. */
  readonly isMeant?: (minter: KeyCreator, key: ApiKey) => boolean
}

interface Write {
  readonly database: Database
  readonly audit: Audit
  readonly change: Change
  readonly actor: Actor
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Whether a key was created by a token of the grant. */
export const isCreatedBy =
  (grantId: string) =>
  ({ application }: KeyCreator): boolean =>
    application?.grantId === grantId

/** Adds to the write that the grant ends, with its keys. */
export async function endGrant(
  { database, audit, change, actor, now }: Write,
  stored: StoredGrant,
  { reason, toKeep = [], isMeant = isCreatedBy(stored.record.id) }: GrantEnding,
): Promise<KeyFates> {
  const { organizationId, record: grant } = stored
  change.replace(oauthGrants, organizationId, stored, { ...grant, revokedAt: now })
  const details = { name: grant.clientName, ...(reason !== undefined && { reason }) }
  const { id: target, projectId } = grant
  audit.record(change, { organizationId, projectId, actor, act: 'oauth_grant.revoked', target, details })
  const ending = { ...{ audit, change, organizationId, actor, now }, reason: 'oauth_grant.revoked' }
  return endKeys(ending, await keysFollowing(database, organizationId, isMeant, now), toKeep, keyWithoutApplication)
}
