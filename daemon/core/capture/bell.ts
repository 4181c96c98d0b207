/** Wakes those who wait for a capture. At most once, in this process: whoever misses the bell finds the capture in the store. */
import type { Capture } from './capture.ts'

type Listener = (capture: Capture) => void

export class CaptureBell {
  readonly #waiting = new Map<string, Set<Listener>>()

  ring(capture: Capture): void {
    for (const listener of this.#waiting.get(capture.projectId) ?? []) listener(capture)
  }

  /** Hears of every capture of the project until the returned function is called. */
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
