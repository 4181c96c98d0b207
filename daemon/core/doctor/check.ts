/** A check: a family of findings that is examined periodically. */
import type { Finding } from './finding.ts'

export interface Check {
  /** A new result replaces the previous findings of the check with this name. */
  readonly name: string
  /** Minimum interval between two automatic runs, in milliseconds. */
  readonly everyMs: number
  /**
   * Returns all current findings; `isAsked` is true if a caller waits for the result. Returns early with partial results when the signal
   * aborts.
   */
  find(signal: AbortSignal, isAsked: boolean): Promise<readonly Finding[]>
}

/** Runs `work` for each item, at most `atATime` concurrently. Ends early when the signal aborts. */
export async function eachOf<T>(
  items: AsyncIterable<T>,
  atATime: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  for await (const item of items) {
    if (signal.aborted || failures.length > 0) break
    const one: Promise<void> = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(one))
    running.add(one)
    if (running.size >= atATime) await Promise.race(running)
  }
  await Promise.all(running)
  if (failures.length > 0) throw failures[0]
}
