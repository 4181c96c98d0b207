/** Wakes those who wait for a capture. At most once: whoever misses the bell finds the capture in the store. */
import type { Capture } from '../capture.ts'

/** `before`: the capture as it was reported already, when only addresses were added to it. */
type Listener = (capture: Capture, before: Capture | undefined) => void

export class CaptureEvents {
  readonly #waiting = new Map<string, Set<Listener>>()

  #own: Listener | undefined

  /** Of a capture that this daemon took. */
  notify(capture: Capture, before?: Capture): void {
    this.ring(capture, before)
    this.#own?.(capture, before)
  }

  /** Is notified of what this daemon captures. */
  onOwn(listener: Listener): void {
    this.#own = listener
  }

  /** Of a capture of any daemon. */
  ring(capture: Capture, before?: Capture): void {
    for (const listener of this.#waiting.get(capture.projectId) ?? []) listener(capture, before)
  }

  /** Is notified of every capture of the project, and of addresses that are found in it later, until the returned function is called. */
  listen(projectId: string, listener: Listener): () => void {
    const listeners = this.#waiting.get(projectId) ?? new Set()
    this.#waiting.set(projectId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#waiting.delete(projectId)
    }
  }

  /** How many wait on a project. */
  waiting(projectId: string): number {
    return this.#waiting.get(projectId)?.size ?? 0
  }
}
