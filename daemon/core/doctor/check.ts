/** A check: one family of findings, looked for now and then. */
import type { Finding } from './finding.ts'

export interface Check {
  /** Its findings go when it finds them no more; those of others stay. */
  readonly name: string
  /** The least time between two looks by themselves, in milliseconds. */
  readonly everyMs: number
  /** Everything that it finds now; `isAsked` says that somebody waits for it. Ends early, with what it has, when the signal comes. */
  find(signal: AbortSignal, isAsked: boolean): Promise<readonly Finding[]>
}

/** Does the work for each, a few at a time, in any order. Ends early when the signal comes. */
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
