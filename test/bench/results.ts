/** What the benchmark measured, and how it is judged and printed. */

/** One measurement of one server. Absent figures do not apply. */
export interface Sample {
  readonly perSecond: number
  /** Milliseconds from the first octet of a transaction to its acknowledgement. */
  readonly p50?: number
  readonly p99?: number
  /** Milliseconds from the final dot to its acknowledgement. */
  readonly dotP50?: number
  readonly dotP99?: number
  /** Microseconds of the server's processor time for each message. */
  readonly cpuMicros?: number
  readonly memoryMebibytes?: number
  /** The load generator's share of one processor; near 1 it would have been the bottleneck. */
  readonly generatorCpu?: number
}

/** A goal and whether it was met. `value` and `wanted` are in the words of the goal. */
export interface Verdict {
  readonly goal: string
  readonly value: string
  readonly met: boolean
}

/** Everything a section found out. */
export interface Section {
  readonly name: string
  readonly lines: readonly string[]
  readonly verdicts: readonly Verdict[]
  /** All figures, for the JSON file. */
  readonly data: unknown
}

/** The middle of a list; of an even one, the mean of the two in the middle. */
export function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? (sorted[Math.floor(middle)] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** Figure by figure, the median of several samples. */
export function medianSample(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {}) as (keyof Sample)[]
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name] ?? NaN))])) as unknown as Sample
}

/** A goal of the form "at least" (`>=`) or "at most" (`<=`). */
export function judge(goal: string, value: number, sign: '>=' | '<=', bound: number, unit: string): Verdict {
  return { goal, value: `${figure(value)} ${unit}`, met: sign === '>=' ? value >= bound : value <= bound }
}

/** A number as short as it stays useful. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)
}

/** One line of a table: a label and figures under their heads. */
export function row(label: string, cells: readonly (string | number)[]): string {
  const shown = cells.map((cell) => (typeof cell === 'number' ? figure(cell) : cell).padStart(11))
  return `  ${label.padEnd(34)}${shown.join('')}`
}

export const sampleHead = row('', ['msg/s', 'p50 ms', 'p99 ms', 'dot p50', 'dot p99', 'CPU µs/msg', 'MiB', 'load CPU'])

export const sampleRow = (label: string, sample: Sample): string =>
  row(label, [
    sample.perSecond,
    ...[sample.p50, sample.p99, sample.dotP50, sample.dotP99].map((value) => value ?? NaN),
    ...[sample.cpuMicros, sample.memoryMebibytes, sample.generatorCpu].map((value) => value ?? NaN),
  ])
