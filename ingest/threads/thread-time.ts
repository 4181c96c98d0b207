/** Limits of time for threads that read hostile input, counted in processor time: on a busy machine an ordinary mail costs no more. */
import type { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '#core/clock.ts'

/** A thread that uses no processor, or gets none, ends after so many times its limit on the clock. */
export const wallFactor = 6

/** What is asked of a thread: the processor time that it used up to now. */
export type MeteredThread = Pick<Worker, 'cpuUsage'>

/** A limit cannot have come sooner than this after it was looked at, in milliseconds. */
const lookMs = 10

/**
 * Calls `late` once, when the thread has used `ms` milliseconds of processor time from now on; at the latest after `wallFactor` times
 * as long on the clock. `thread` gives the thread when it is asked, undefined while there is none: what that one uses to start counts.
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
  // a thread cannot use more than all of the time that goes by
  let next = clock.after(ms, () => void look())
  const backstop = clock.after(ms * wallFactor, end)
  const cancel = (): void => {
    isOver = true
    next.cancel()
    backstop.cancel()
  }
  return { cancel }
}

/** Resolves when the thread is between two steps of JavaScript, which a long call of a native function delays. */
async function processorMs(thread: MeteredThread | undefined): Promise<number> {
  try {
    const { user = 0, system = 0 } = (await thread?.cpuUsage()) ?? {}
    return (user + system) / 1000
  } catch {
    return 0 // it has not begun, or has ended
  }
}
