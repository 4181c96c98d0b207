/** Refusals for callers when the store or another internal part fails during their request. */
import { StoreAway, StoreDamaged, StoreFailure } from '#store/kv.ts'
import { Refusal } from '../refusals.ts'

const contentsAway = 'Contents can be neither stored nor read at the moment; repeat the request in a few seconds.'
const storeFailed = 'The store cannot be used at the moment, and nothing was stored; repeat the request in a few seconds.'
const retryAfterSeconds = 5

/** Returns the refusal if the store is unavailable; undefined for a damaged record, an undecided write and other errors. */
export function storeRefusal(error: unknown): Refusal | undefined {
  if (error instanceof StoreAway) return new Refusal('overloaded', contentsAway, { retryAfterSeconds, cause: error })
  if (!(error instanceof StoreFailure) || error instanceof StoreDamaged || error.key !== undefined || error.isUndecided) return undefined
  return new Refusal('overloaded', storeFailed, { retryAfterSeconds, cause: error })
}

/** Returns true if a write failed but may have been stored. No response would be correct, so the connection ends without one. */
export const isUndecided = (error: unknown): boolean => error instanceof StoreFailure && error.isUndecided

/** Returns the refusal for an unexpected error, equal at every entry point. `what`: an HTTP request or a tool call. */
export function refusalOfDefect(error: unknown, requestId: string, what: 'request' | 'call' = 'request'): Refusal {
  if (error instanceof StoreDamaged) {
    const message =
      'The store is damaged, and records of this response are unreadable. The operator of the service runs "postern verify", ' +
      `which names the damage. The id of the ${what} is ${requestId}.`
    return new Refusal('internal_error', message, { nextAction: 'ask_operator' })
  }
  return storeRefusal(error) ?? new Refusal('internal_error', `The ${what} failed inside the service; report it with its id ${requestId}.`)
}
