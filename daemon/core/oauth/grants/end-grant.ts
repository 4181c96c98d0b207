/** Ends a grant. Its tokens stop working, and keys that were created with it are revoked in the same write. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { ApiKey } from '../../access/keys/api-key.ts'
import { endKeys, keysFollowing, keyWithoutApplication, type KeyFates, type KeysToKeep } from '../../access/keys/dependent-keys.ts'
import type { KeyCreator } from '../../access/principal/key-creator.ts'
import type { Actor, Audit } from '../../writes/audit.ts'
import { oauthGrants, type StoredGrant } from './grant.ts'

/** Options for ending a grant. */
export interface GrantEnding {
  /** Reason in the audit log. */
  readonly reason?: string
  /** Ids of keys to keep; they follow only their user afterwards. */
  readonly toKeep?: KeysToKeep
  /** Selects the keys that end; by default the keys that were created with this grant. */
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

/** Whether a key was created with a token of the grant. */
export const isCreatedBy =
  (grantId: string) =>
  ({ application }: KeyCreator): boolean =>
    application?.grantId === grantId

/** Adds the end of the grant and of its keys to the write. */
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
