/**
 * Cancellation of calls by clients of the older era. Such a client sends a separate request and keeps the connection of the call open. A
 * reading call ends, identified by its grant and request id. A writing call continues, since only its result reports the change.
 */
export type RequestId = string | number

/** A call that its client may cancel. */
interface Cancellable {
  readonly signal: AbortSignal
  /** Must be called when the call has ended. */
  readonly over: () => void
}

export class Cancellations {
  readonly #open = new Map<string, Set<AbortController>>()

  begin(grantId: string, id: RequestId): Cancellable {
    const [key, controller] = [keyOf(grantId, id), new AbortController()]
    const sameId = this.#open.get(key) ?? new Set() // two clients of a grant may use the same ids
    this.#open.set(key, sameId.add(controller))
    const over = (): void => {
      sameId.delete(controller)
      if (sameId.size === 0 && this.#open.get(key) === sameId) this.#open.delete(key)
    }
    return { signal: controller.signal, over }
  }

  /** Ends the calls that a request or batch cancels. */
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
