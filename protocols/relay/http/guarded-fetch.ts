/** `Fetch` over the guarded request: documents from addresses that were checked, over verified TLS, each on a connection of its own. */
import type { SecureContext } from 'node:tls'
import type { Clock } from '#core/clock.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import { FetchFailed, type Fetch } from '#core/outbound/fetch.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { dialDirectly } from '../smtp/connect.ts'
import { Failure } from '../smtp/failure.ts'
import { clientContext } from '../smtp/secure.ts'
import { standardHttpDeadlines } from './deadlines.ts'
import { guardedRequest, type HttpsNetwork } from './guarded-request.ts'

export interface GuardedFetchOptions {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock: Clock
  /** Certificates in PEM that are trusted besides the well-known ones. */
  readonly trusted?: readonly string[]
}

export function guardedFetch({ resolver, guard, clock, trusted = [] }: GuardedFetchOptions): Fetch {
  let context: SecureContext | undefined
  const network: HttpsNetwork = {
    ...{ resolver, guard, clock, dial: dialDirectly, deadlines: standardHttpDeadlines },
    get context() {
      context ??= clientContext(trusted)
      return context
    },
  }
  const headers = { accept: 'application/json', 'user-agent': 'Postern' }
  return async (url, { deadlineMs, bytesMax }) => {
    const never = new AbortController().signal // the deadline ends it
    try {
      return await guardedRequest(
        network,
        { method: 'GET', url, headers, body: undefined },
        { deadlineMs, answerBytesMax: bytesMax },
        never,
      )
    } catch (error) {
      throw error instanceof Failure ? new FetchFailed(error.message, { cause: error }) : error
    }
  }
}
