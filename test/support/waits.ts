/**
 * Named waits without a deadline. At the deadline of a test, its error lists the waits in progress, and they end.
 */
import { setTimeout as pause } from 'node:timers/promises'

interface Wait {
  readonly name: () => string
  readonly end: (error: Error) => void
}

const waits = new Set<Wait>()

/** The names of the waits in progress, oldest first. */
export const waitsInProgress = (): string[] => [...waits].map(({ name }) => name())

/** Rejects each wait in progress with an error that names it. */
export function endWaits(): void {
  for (const { name, end } of waits) end(new Error(`the test ended during a wait: ${name()}`))
}

/** Returns the value of the promise, which is registered as a wait until it settles. */
export async function waiting<T>(name: string | (() => string), promise: Promise<T>): Promise<T> {
  const ended = Promise.withResolvers<never>()
  const wait = { name: typeof name === 'string' ? () => name : name, end: ended.reject }
  waits.add(wait)
  try {
    return await Promise.race([promise, ended.promise])
  } finally {
    waits.delete(wait)
  }
}

/** Calls `ask` every 50 ms until it returns neither undefined nor false. Only for other processes, which report no progress. */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  let isOver = false
  const asking = async (): Promise<T> => {
    for (;;) {
      const answer = await ask()
      if (answer !== undefined && answer !== false) return answer
      await pause(50)
      if (isOver) throw new Error(`the wait has ended: ${what}`)
    }
  }
  try {
    return await waiting(what, asking())
  } finally {
    isOver = true
  }
}
