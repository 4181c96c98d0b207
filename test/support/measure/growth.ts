/** Whether work grows in proportion to its input: processor time of this thread at two sizes of one run, whatever the machine's load. */

const factor = 4
const maxTries = 3
/** Below this, in milliseconds, a measurement says nothing: many kernels count processor time in ticks of 4 ms. */
const floorMs = 8

/** True when four times the input takes less than nine times as long; quadratic work would take sixteen times. */
export function growsLinearly(work: (size: number) => void, size = 250_000): boolean {
  work(size) // the first runs are slower, which would hide growth
  for (let tries = 0; tries < maxTries; tries++) {
    const small = Math.min(
      spent(() => work(size)),
      spent(() => work(size)),
    )
    const large = spent(() => work(size * factor))
    if (large < 9 * Math.max(small, floorMs)) return true
  }
  return false
}

function spent(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
