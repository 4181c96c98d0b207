/** Who asks: the bearer key out of the request (RFC 6750 §2.1); whether it is good is for the injected check to say. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'

/** Finds out who asks, or throws `unauthorized`. `remoteAddress` is for counting guesses. */
export type Authenticate = (headers: IncomingHttpHeaders, remoteAddress: string) => Promise<Principal>

const bearer = /^bearer +([\w.~+/-]{1,4096}=*) *$/i

/** Authentication by `Authorization: Bearer <key>`; `verify` turns the key into a principal or throws `unauthorized`. */
export function bearerAuthentication(verify: (key: string, remoteAddress: string) => Promise<Principal>): Authenticate {
  return (headers, remoteAddress) => verify(bearerKey(headers.authorization), remoteAddress)
}

/** The check of the operator's key. No key of a tenant is taken: the two have different beginnings. */
export function operatorAuthentication(operatorKey: string): (headers: IncomingHttpHeaders) => void {
  const digest = hash('sha256', operatorKey, 'buffer')
  return (headers) => {
    if (timingSafeEqual(hash('sha256', bearerKey(headers.authorization), 'buffer'), digest)) return
    throw new Refusal('unauthorized', 'This is not the operator key of the service.')
  }
}

/** Where no operator key is set, what is the operator's is not there. */
export function noOperator(): void {
  throw new Refusal('not_found', 'Nothing is served at this address; /openapi.json lists all addresses.')
}

/** The key itself, whatever it is good for. Throws `unauthorized`. */
function bearerKey(header: string | undefined): string {
  if (header === undefined) throw new Refusal('unauthorized', 'Send your API key in the header "Authorization: Bearer <key>".')
  const key = bearer.exec(header)?.[1]
  if (key !== undefined) return key
  throw new Refusal('unauthorized', 'The Authorization header must be the word Bearer, a space and your API key.')
}
