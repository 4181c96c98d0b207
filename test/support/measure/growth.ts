/**
 * Checks that work grows linearly with its input: compares processor time of this thread at two sizes in one run, which the machine's load
 * does not change.
 */

const factor = 4
const maxTries = 3
/** Shorter measurements, in milliseconds, are meaningless: many kernels count processor time in ticks of 4 ms. */
const floorMs = 8

/** Returns true if four times the input takes less than nine times as long. Quadratic work takes sixteen times. */
export function growsLinearly(work: (size: number) => void, size = 250_000): boolean {
  work(size) // The first runs are slower, which would hide growth.
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
