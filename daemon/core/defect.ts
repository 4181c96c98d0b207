/** The refusal for an error that no rule of the service expects, alike at every door. */
import { StoreDamaged } from '#store/kv.ts'
import { Refusal } from './refusals.ts'
import { storeRefusal } from './writes/store-refusal.ts'

/** `what` the caller made: a request, or the call of a tool. */
export function refusalOfDefect(error: unknown, requestId: string, what: 'request' | 'call' = 'request'): Refusal {
  if (error instanceof StoreDamaged) {
    const message = `The store is damaged, and records of this answer cannot be read. The operator of the service runs "postern verify", which names the damage. The id of the ${what} is ${requestId}.`
    return new Refusal('internal_error', message, { nextAction: 'ask_operator' })
  }
  return storeRefusal(error) ?? new Refusal('internal_error', `The ${what} failed inside the service; report it with its id ${requestId}.`)
}
