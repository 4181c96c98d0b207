/** Who asks: the bearer key out of the request (RFC 6750 §2.1); whether it is good is for the injected check to say. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { CredentialRequest } from './credentials.ts'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'

/** Finds out who asks, or throws `unauthorized`. `remoteAddress` is for counting guesses. */
export type Authenticate = (headers: IncomingHttpHeaders, remoteAddress: string) => Promise<Principal>

const bearer = /^bearer +([\w.~+/-]{1,4096}=*) *$/i

/** Authentication by `Authorization: Bearer <key>`; `verify` turns the key into a principal or throws `unauthorized`. */
export function bearerAuthentication(verify: (key: string, remoteAddress: string) => Promise<Principal>): Authenticate {
  return (headers, remoteAddress) => verify(bearerKey(headers.authorization), remoteAddress)
}

/** Finds out who acts as the operator: the id of a user, or nothing for the operator's key. Throws `unauthorized`, or `not_found`. */
export type AuthenticateOperator = (request: Pick<CredentialRequest, 'method' | 'headers'>) => Promise<string | undefined>

export interface OperatorCredentials {
  /** Null where there is none. */
  readonly key: string | null
  /** The id of the operator whose session the request carries; undefined where it carries none of an operator. */
  readonly sessionOf?: ((request: Pick<CredentialRequest, 'method' | 'headers'>) => Promise<string | undefined>) | undefined
}

/**
 * The check of the operator's key, and of sessions of the people who are operators. No key of a tenant is taken: the two have different
 * beginnings. Where there is no key, others learn nothing of these operations.
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

/** Where there is no operator, what is the operator's is not there. */
export function noOperator(): never {
  throw new Refusal('not_found', 'Nothing is served at this address; /openapi.json lists all addresses.')
}

/** The key itself, whatever it is good for. Throws `unauthorized`. */
function bearerKey(header: string | undefined): string {
  if (header === undefined) throw new Refusal('unauthorized', 'Send your API key in the header "Authorization: Bearer <key>".')
  const key = bearer.exec(header)?.[1]
  if (key !== undefined) return key
  throw new Refusal('unauthorized', 'The Authorization header must be the word Bearer, a space and your API key.')
}
