/** What happens to keys when who created them goes: they end in the same write, but for those that are kept. */
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

/** Keys that a removal has to do with. */
export interface KeyFates {
  readonly ended: readonly ApiKey[]
  readonly kept: readonly ApiKey[]
}

export const noKeys: KeyFates = { ended: [], kept: [] }

/** Keys that work now and follow a creator of whom `isMeant` says so; the newest first. */
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
  /** For the audit log. */
  readonly reason: string
}

/**
 * Adds to the write that the keys end, or are kept in the form that `keep` gives them. Throws `validation_failed` for a key
 * to keep that is none of them.
 */
export function endKeys(ending: KeyEnding, keys: readonly Stored<ApiKey>[], toKeep: KeysToKeep, keep: (key: ApiKey) => ApiKey): KeyFates {
  const cached = new Set(keys.map(({ record }) => record.id))
  const stray = toKeep.find((id) => !cached.has(id))
  if (stray !== undefined) throw invalid([{ path: 'keep_keys', message: `${stray} is not one of the keys that would end` }])
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

/** A key that outlives its creator: it belongs to the organization from now on and never reaches further than until now. */
export function keptKey(key: ApiKey, roleNow: Role | undefined, now: number): ApiKey {
  const { minter } = key
  const ceiling = ceilingOf(key, roleNow)
  if (!minter || ceiling === 'none') return key
  return { ...key, minter: { ...minter, role: ceiling === 'ended' ? minter.role : ceiling }, keptAt: now }
}

/** A key that outlives the application that created it: it follows the user alone. */
export const keyWithoutApplication = (key: ApiKey): ApiKey => (key.minter ? { ...key, minter: { ...key.minter, application: null } } : key)
