/** Refresh tokens: each works once and returns the next token. Reuse of a used token ends its grant (RFC 9700 §4.14.2). */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Grant } from '../grants/grant.ts'
import { hashOpaqueToken, newOpaqueToken } from '../protocol/opaque-token.ts'
import type { Surface } from '../protocol/scopes.ts'

/** Stored data of a refresh token, by its hash. The row is removed when the token expires. */
export interface RefreshToken {
  readonly grantId: string
  readonly clientId: string
  /** Surface of the access token that was issued with it. */
  readonly surface: Surface
  readonly expiresAt: number
  /** Null until the token is used. */
  readonly usedAt: number | null
}

export interface StoredRefreshToken {
  readonly key: readonly Element[]
  readonly token: RefreshToken
  readonly version: bigint
}

const dayMs = 86_400_000
const idleMs = 30 * dayMs
/** Refresh tokens of anonymous callers expire earlier. */
export const anonymousIdleMs = 7 * dayMs
/** Maximum lifetime of a grant after the consent, regardless of refreshes. */
export const grantMs = 180 * dayMs

export const refreshTokenPrefix = 'rt_'
const refreshTokenPattern = /^rt_[\w-]{43}$/

export const isRefreshToken = (text: string): boolean => refreshTokenPattern.test(text)

const rowKey = (text: string): readonly Element[] => globalKey('oauth.refresh-token', hashOpaqueToken(text))

/** Adds a new refresh token to the write and returns it. */
export function addRefreshToken(change: Change, grant: Grant, surface: Surface, now: number): string {
  const text = newOpaqueToken(refreshTokenPrefix)
  const expiresAt = Math.min(now + (grant.userId === null ? anonymousIdleMs : idleMs), grant.expiresAt)
  put(change, rowKey(text), { grantId: grant.id, clientId: grant.clientId, surface, expiresAt, usedAt: null })
  return text
}

export async function findRefreshToken(database: Database, text: string): Promise<StoredRefreshToken | undefined> {
  if (!isRefreshToken(text)) return undefined
  const key = rowKey(text)
  const entry = await database.kv.get(pack(key))
  return entry && { key, token: decode<RefreshToken>(entry.value), version: entry.version }
}

/** Marks the token as used; the write fails if the token was used concurrently. */
export function useRefreshToken(change: Change, { key, token, version }: StoredRefreshToken, now: number): void {
  change.check(key, version)
  put(change, key, { ...token, usedAt: now })
}

const put = (change: Change, key: readonly Element[], token: RefreshToken): Change =>
  change.set(key, encode(token)).expire(token.expiresAt, key)
