/** Reads the bearer key of a request (RFC 6750 §2.1); an injected function verifies it. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CredentialRequest } from './credentials.ts'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'

/** Returns the caller, or throws `unauthorized`. `remoteAddress` is for counting failed attempts. */
export type Authenticate = (headers: IncomingHttpHeaders, remoteAddress: string) => Promise<Principal>

const bearer = /^bearer +([\w.~+/-]{1,4096}=*) *$/i

/** Authenticates by `Authorization: Bearer <key>`; `verify` returns the principal of the key or throws `unauthorized`. */
export function bearerAuthentication(verify: (key: string, remoteAddress: string) => Promise<Principal>): Authenticate {
  return (headers, remoteAddress) => verify(bearerKey(headers.authorization), remoteAddress)
}

/** Returns the id of the user acting as the operator, or undefined for the operator's key. Throws `unauthorized`, or `not_found`. */
export type AuthenticateOperator = (request: Pick<CredentialRequest, 'method' | 'headers'>) => Promise<string | undefined>

/** Returns the signed-in person. Throws `unauthorized`, and `insufficient_scope` for a change from another site. */
export type AuthenticatePerson = (request: Pick<CredentialRequest, 'method' | 'headers'>) => Promise<SignedIn>

export interface OperatorCredentials {
  /** Null if the service has no operator key. */
  readonly key: string | null
  /** Returns the id of the operator whose session the request contains; undefined without an operator's session. */
  readonly sessionOf?: ((request: Pick<CredentialRequest, 'method' | 'headers'>) => Promise<string | undefined>) | undefined
}

/**
 * Checks the operator's key, and sessions of users who are operators. Keys of tenants never match: they have another prefix. If there is no
 * operator key, these operations appear not to exist.
 */
export function operatorAuthentication({ key, sessionOf }: OperatorCredentials): AuthenticateOperator {
  const digest = key === null ? undefined : hash('sha256', key, 'buffer')
  return async (request) => {
    const { authorization } = request.headers
    if (authorization === undefined) {
      const operator = await sessionOf?.(request)
      if (operator !== undefined) return operator
    }
    if (digest === undefined) return noOperator()
    if (timingSafeEqual(hash('sha256', bearerKey(authorization), 'buffer'), digest)) return undefined
    throw new Refusal('unauthorized', 'This is not the operator key of the service.')
  }
}

/** Throws `not_found`: without an operator, operator operations appear not to exist. */
export function noOperator(): never {
  throw new Refusal('not_found', 'Nothing is served at this address; /openapi.json lists all addresses.')
}

/** Throws `unauthorized`: the caller is not a signed-in person. */
export function noPerson(): never {
  throw new Refusal('unauthorized', 'Only signed-in people have an account here. Sign in.', { nextAction: 'sign_in' })
}

/** Returns the key without verifying it. Throws `unauthorized`. */
function bearerKey(header: string | undefined): string {
  if (header === undefined) throw new Refusal('unauthorized', 'Send your API key in the header "Authorization: Bearer <key>".')
  const key = bearer.exec(header)?.[1]
  if (key !== undefined) return key
  throw new Refusal('unauthorized', 'The Authorization header must be the word Bearer, a space and your API key.')
}
