/** Ends or keeps the keys of a removed member or application, in the same write as the removal. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Actor, Audit } from '../../writes/audit.ts'
import { invalid } from '../../refusals.ts'
import { apiKeys, type ApiKey } from './api-key.ts'
import { ceilingOf, followsCreator, type KeyCreator } from '../principal/key-creator.ts'
import type { Role } from '../principal/role.ts'

/** Ids of the keys to keep. */
export type KeysToKeep = readonly string[]

/** Keys that a removal ends or keeps. */
export interface KeyFates {
  readonly ended: readonly ApiKey[]
  readonly kept: readonly ApiKey[]
}

export const noKeys: KeyFates = { ended: [], kept: [] }

/** Returns active keys that follow a creator and satisfy `isMeant`, newest first. */
export async function keysFollowing(
  database: Database,
  organizationId: string,
  isMeant: (minter: KeyCreator, key: ApiKey) => boolean,
  nowMs: number,
): Promise<Stored<ApiKey>[]> {
  const all = await database.all(apiKeys, { organizationId })
  return all
    .filter(({ record }) => isAlive(record, nowMs) && followsCreator(record) && record.minter && isMeant(record.minter, record))
    .toReversed()
}

const isAlive = ({ revokedAt, expiresAt }: ApiKey, nowMs: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > nowMs)

export interface KeyEnding {
  readonly audit: Audit
  readonly change: Change
  readonly organizationId: string
  readonly actor: Actor
  readonly now: number
  /** Reason in the audit log. */
  readonly reason: string
}

/**
 * Adds to the write the end of each key, or the kept form that `keep` returns. Throws `validation_failed` if `toKeep` has an id that is not
 * among `keys`.
 */
export function endKeys(ending: KeyEnding, keys: readonly Stored<ApiKey>[], toKeep: KeysToKeep, keep: (key: ApiKey) => ApiKey): KeyFates {
  const cached = new Set(keys.map(({ record }) => record.id))
  const stray = toKeep.find((id) => !cached.has(id))
  if (stray !== undefined) throw invalid([{ path: 'keep_keys', message: `${stray} is not among the keys that would be revoked` }])
  const { change, organizationId, now } = ending
  const [ended, kept]: [ApiKey[], ApiKey[]] = [[], []]
  for (const stored of keys) {
    const isKept = toKeep.includes(stored.record.id)
    const record = isKept ? keep(stored.record) : { ...stored.record, revokedAt: now }
    change.replace(apiKeys, organizationId, stored, record)
    recordFate(ending, record, isKept ? 'api_key.kept' : 'api_key.revoked')
    ;(isKept ? kept : ended).push(record)
  }
  return { ended, kept }
}

function recordFate({ audit, change, organizationId, actor, reason }: KeyEnding, { id, name, projectId }: ApiKey, act: string): void {
  audit.record(change, { organizationId, projectId: projectId ?? undefined, actor, act, target: id, details: { name, reason } })
}

/**
 * Returns the key in the form that outlives its creator. It then belongs to the organization, and its current ceiling becomes permanent.
 */
export function keptKey(key: ApiKey, roleNow: Role | undefined, now: number): ApiKey {
  const { minter } = key
  const ceiling = ceilingOf(key, roleNow)
  if (!minter || ceiling === 'none') return key
  return { ...key, minter: { ...minter, role: ceiling === 'ended' ? minter.role : ceiling }, keptAt: now }
}

/** Returns the key in the form that outlives the application that created it. It then follows only the user. */
export const keyWithoutApplication = (key: ApiKey): ApiKey => (key.minter ? { ...key, minter: { ...key.minter, application: null } } : key)
