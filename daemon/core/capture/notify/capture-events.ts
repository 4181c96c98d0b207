/** Notifies waiting callers of captures, at most once. A caller that misses the event finds the capture in the store. */
import type { Capture } from '../capture.ts'

/** `before`: the capture as reported earlier, if only addresses were added. */
type Listener = (capture: Capture, before: Capture | undefined) => void

export class CaptureEvents {
  readonly #waiting = new Map<string, Set<Listener>>()

  #own: Listener | undefined

  /** Notifies listeners of a capture of this daemon. */
  notify(capture: Capture, before?: Capture): void {
    this.ring(capture, before)
    this.#own?.(capture, before)
  }

  /** Registers the listener for captures of this daemon. */
  onOwn(listener: Listener): void {
    this.#own = listener
  }

  /** Notifies listeners of a capture of any daemon. */
  ring(capture: Capture, before?: Capture): void {
    for (const listener of this.#waiting.get(capture.projectId) ?? []) listener(capture, before)
  }

  /** Listens to captures of the project, and to addresses added to them, until the returned function is called. */
  listen(projectId: string, listener: Listener): () => void {
    const listeners = this.#waiting.get(projectId) ?? new Set()
    this.#waiting.set(projectId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#waiting.delete(projectId)
    }
  }

  /** Returns the number of listeners of a project. */
  waiting(projectId: string): number {
    return this.#waiting.get(projectId)?.size ?? 0
  }
}
