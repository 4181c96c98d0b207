/**
 * Clients of the older era end a call by a request of its own, and keep the connection of the call: calls that read are found by their
 * grant and the id of their request, and end. What writes goes on, as only its outcome says what was done.
 */
export type RequestId = string | number

/** A call that its client may end. */
interface Cancellable {
  readonly signal: AbortSignal
  /** Is called when the call is over. */
  readonly over: () => void
}

export class Cancellations {
  readonly #open = new Map<string, Set<AbortController>>()

  begin(grantId: string, id: RequestId): Cancellable {
    const [key, controller] = [keyOf(grantId, id), new AbortController()]
    const sameId = this.#open.get(key) ?? new Set() // two clients of a grant count their requests alike
    this.#open.set(key, sameId.add(controller))
    const over = (): void => {
      sameId.delete(controller)
      if (sameId.size === 0 && this.#open.get(key) === sameId) this.#open.delete(key)
    }
    return { signal: controller.signal, over }
  }

  /** Ends the calls that a request, or each of a batch, says are not waited for any more. */
  take(grantId: string, body: unknown): void {
    for (const message of [body].flat()) {
      const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown }
      if (method !== 'notifications/cancelled') continue
      const { requestId: id } = Object(params) as { readonly requestId?: unknown }
      if (typeof id !== 'string' && typeof id !== 'number') continue
      for (const controller of this.#open.get(keyOf(grantId, id)) ?? []) controller.abort(new Error('the client canceled its request'))
    }
  }
}

const keyOf = (grantId: string, id: RequestId): string => `${grantId} ${typeof id} ${id}`
