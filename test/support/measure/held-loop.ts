/** Measures how long work blocks the event loop of this thread, in processor time, which the machine's load does not change. */

export interface HeldLoop {
  /** The longest turn of the event loop, in milliseconds of this thread's processor time. */
  readonly longestMs: number
  /** All turns together, without the cost of watching: the cost of the cheapest turn is subtracted from each. */
  readonly totalMs: number
}

/** Measures every turn of the event loop until `work` has finished. */
export async function heldLoop(work: () => Promise<unknown>): Promise<HeldLoop> {
  const begun = process.threadCpuUsage()
  let last = begun
  let longestMs = 0
  let turns = 0
  let cheapestMs = Infinity
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      await new Promise(setImmediate)
      const now = process.threadCpuUsage()
      const ms = milliseconds(now, last)
      longestMs = Math.max(longestMs, ms)
      cheapestMs = Math.min(cheapestMs, ms)
      turns++
      last = now
    }
  })()
  await work().finally(() => (isDone = true))
  await watching
  return { longestMs, totalMs: milliseconds(last, begun) - turns * cheapestMs }
}

const milliseconds = (now: NodeJS.CpuUsage, before: NodeJS.CpuUsage): number => (now.user + now.system - before.user - before.system) / 1000
