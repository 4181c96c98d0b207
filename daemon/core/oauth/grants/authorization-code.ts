/**
 * Authorization codes (RFC 6749 §4.1.2, RFC 7636 §4). A code is valid for a minute and one use, for one client, redirect URI and PKCE
 * challenge.
 */
import { hash } from 'node:crypto'
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { hashOpaqueToken, newOpaqueToken } from '../protocol/opaque-token.ts'

/** A user's approval between the redirect and the exchange for tokens. */
export interface AuthorizationCode {
  readonly clientId: string
  readonly redirectUri: string
  readonly codeChallenge: string
  readonly organizationId: string
  /** The grant of the code. It exists from the approval on, so that ending the grant also ends the code. */
  readonly grantId: string
  readonly mayRefresh: boolean
  readonly expiresAt: number
  readonly isUsed: boolean
}

export interface StoredAuthorizationCode {
  readonly key: readonly Element[]
  readonly code: AuthorizationCode
  readonly version: bigint
}

export const codeMs = 60_000
/** Used codes remain stored for this time, because a second use revokes the tokens of the first (RFC 6749 §4.1.2). */
const usedMs = 86_400_000

const codeKey = (text: string): readonly Element[] => globalKey('oauth.code', hashOpaqueToken(text))

/** Adds a new code to the write and returns it. */
export function addAuthorizationCode(change: Change, code: AuthorizationCode): string {
  const text = newOpaqueToken()
  change.set(codeKey(text), encode(code)).expire(code.expiresAt, codeKey(text))
  return text
}

export async function findAuthorizationCode(database: Database, text: string): Promise<StoredAuthorizationCode | undefined> {
  const key = codeKey(text)
  const entry = await database.kv.get(pack(key))
  return entry && { key, code: decode<AuthorizationCode>(entry.value), version: entry.version }
}

/** Marks the code as used; the write fails if the code was used concurrently. */
export function useAuthorizationCode(change: Change, { key, code, version }: StoredAuthorizationCode, now: number): void {
  change
    .check(key, version)
    .set(key, encode({ ...code, isUsed: true }))
    .expire(now + usedMs, key)
}

const challengePattern = /^[\w-]{43}$/
const verifierPattern = /^[\w.~-]{43,128}$/

/** Returns whether the text can be an S256 challenge: 256 bits in base64url (RFC 7636 §4.2). */
export const isCodeChallenge = (text: string): boolean => challengePattern.test(text)

/** RFC 7636 §4.6. */
export const verifiesChallenge = (verifier: string, challenge: string): boolean =>
  verifierPattern.test(verifier) && hash('sha256', verifier, 'base64url') === challenge
