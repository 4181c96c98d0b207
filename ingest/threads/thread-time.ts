/** Time limits for threads that parse hostile input. They count processor time, so a busy machine does not end a thread early. */
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '#core/clock.ts'

/** A thread that uses no processor, or gets none, is ended when wall-clock time reaches this multiple of the limit. */
export const wallFactor = 6

/** Access to the processor time that a thread has used. */
export type MeteredThread = Pick<Worker, 'cpuUsage'>

/** Shortest interval between two measurements, in milliseconds. */
const lookMs = 10

/**
 * Calls `late` once, when the thread has used `ms` milliseconds of processor time from this call on. After `ms` × `wallFactor` on the
 * clock, `late` is called in any case. `thread` returns the current thread or undefined. The start of a later thread counts too.
 */
export function afterProcessorTime(clock: Clock, thread: () => MeteredThread | undefined, ms: number, late: () => void): Timer {
  let isOver = false
  const began = processorMs(thread())
  const end = (): void => {
    if (isOver) return
    cancel()
    late()
  }
  const look = async (): Promise<void> => {
    const left = ms - ((await processorMs(thread())) - (await began))
    if (isOver) return
    if (left <= 0) end()
    else next = clock.after(Math.max(left, lookMs), () => void look())
  }
  // the first measurement is due after `ms`, since a thread cannot use more processor time than passes on the clock
  let next = clock.after(ms, () => void look())
  const backstop = clock.after(ms * wallFactor, end)
  const cancel = (): void => {
    isOver = true
    next.cancel()
    backstop.cancel()
  }
  return { cancel }
}

/** Resolves when the thread is between two steps of JavaScript. A long call of a native function delays this. */
async function processorMs(thread: MeteredThread | undefined): Promise<number> {
  try {
    const { user = 0, system = 0 } = (await thread?.cpuUsage()) ?? {}
    return (user + system) / 1000
  } catch {
    return 0 // the thread has not started or has ended
  }
}
