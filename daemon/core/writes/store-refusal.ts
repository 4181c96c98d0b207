/** What callers are told when the store fails under their request. */
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
