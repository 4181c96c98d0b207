/** What callers are told when the store, or anything else inside the service, fails under their request. */
import { StoreAway, StoreDamaged, StoreFailure } from '#store/kv.ts'
import { Refusal } from '../refusals.ts'

const contentsAway = 'Contents can be neither stored nor read at the moment; repeat the request in a few seconds.'
const storeFailed = 'The store cannot be used at the moment, and nothing was stored; repeat the request in a few seconds.'
const retryAfterSeconds = 5

/** The refusal of work that the store could not do; undefined for a damaged record, an undecided write and any other error. */
export function storeRefusal(error: unknown): Refusal | undefined {
  if (error instanceof StoreAway) return new Refusal('overloaded', contentsAway, { retryAfterSeconds, cause: error })
  if (!(error instanceof StoreFailure) || error instanceof StoreDamaged || error.key !== undefined || error.isUndecided) return undefined
  return new Refusal('overloaded', storeFailed, { retryAfterSeconds, cause: error })
}

/** Whether a write failed and may be found by the next start: no answer would be true, so the connection ends without one. */
export const isUndecided = (error: unknown): boolean => error instanceof StoreFailure && error.isUndecided

/** The refusal for an error that no rule expects, alike at every door. `what`: the caller made a request, or called a tool. */
export function refusalOfDefect(error: unknown, requestId: string, what: 'request' | 'call' = 'request'): Refusal {
  if (error instanceof StoreDamaged) {
    const message =
      'The store is damaged, and records of this answer cannot be read. The operator of the service runs "postern verify", ' +
      `which names the damage. The id of the ${what} is ${requestId}.`
    return new Refusal('internal_error', message, { nextAction: 'ask_operator' })
  }
  return storeRefusal(error) ?? new Refusal('internal_error', `The ${what} failed inside the service; report it with its id ${requestId}.`)
}
