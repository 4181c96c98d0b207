/** Current speed of the machine, measured with a fixed computation. Bounds in milliseconds apply to one idle machine. */

const rows = Array.from({ length: 20_000 }, (_, i) => ({
  id: `row_${i}`,
  address: `user${i}@example.ch`,
  at: i * 1000,
  tags: ['a', 'b', `${i}`],
}))
const rounds = 4
/** Processor time of the computation on the machine that defined the bounds, in milliseconds. */
const usualMs = 120

function work(): number {
  let units = 0
  for (let round = 0; round < rounds; round++) {
    const back = JSON.parse(JSON.stringify(rows)) as typeof rows
    for (const { address } of back) units += address.replaceAll(/[aeiou]/g, '').length
  }
  return units
}

/** Ratio between the current and the usual duration of the computation; at least 1. */
export function pace(): number {
  const before = process.threadCpuUsage()
  if (work() === 0) throw new Error('no work was done')
  const { user, system } = process.threadCpuUsage(before)
  return Math.max(1, (user + system) / 1000 / usualMs)
}
