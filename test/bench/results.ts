/** Results of the benchmark: figures, rating and printing. */

/** One measurement of one server. Absent figures do not apply. */
export interface Sample {
  readonly perSecond: number
  /** Milliseconds from the first octet of a transaction to its acknowledgement. */
  readonly p50?: number
  readonly p99?: number
  /** Milliseconds from the final dot to its acknowledgement. */
  readonly dotP50?: number
  readonly dotP99?: number
  /** Processor time of the server per message in microseconds, of all its processes and threads. */
  readonly cpuMicros?: number
  /** The same by kind of thread, for a server with a single process. */
  readonly mainMicros?: number
  readonly libuvMicros?: number
  readonly v8Micros?: number
  readonly workerMicros?: number
  /** Store writes per message: rows, their octets, atomic writes, and disk syncs that it did not share. */
  readonly rows?: number
  readonly bytes?: number
  readonly commits?: number
  readonly syncs?: number
  readonly memoryMebibytes?: number
  /** Processor load of the load generator; near 1, it is the bottleneck. */
  readonly generatorCpu?: number
}

/** A goal and its result. `value` and `wanted` have the unit of the goal. */
export interface Verdict {
  readonly goal: string
  readonly value: string
  readonly met: boolean
}

/** Results of a section. */
export interface Section {
  readonly name: string
  readonly lines: readonly string[]
  readonly verdicts: readonly Verdict[]
  /** All figures, for the JSON file. */
  readonly data: unknown
}

/** Returns the median of a list. */
export function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? (sorted[Math.floor(middle)] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** Returns the median of several samples for each figure. */
export function medianSample(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {}) as (keyof Sample)[]
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name] ?? NaN))])) as unknown as Sample
}

/** A goal of the form "at least" (`>=`) or "at most" (`<=`). */
export function judge(goal: string, value: number, sign: '>=' | '<=', bound: number, unit: string): Verdict {
  return { goal, value: `${figure(value)} ${unit}`, met: sign === '>=' ? value >= bound : value <= bound }
}

export type Goal<Of> = readonly [goal: string, value: (of: Of) => number | undefined, sign: '>=' | '<=', bound: number, unit: string]

/** Rates goals of a section. Returns no verdicts if the section was not measured. */
export const judgeAll = <Of>(found: Of | undefined, goals: readonly Goal<Of>[]): Verdict[] =>
  found === undefined ? [] : goals.map(([goal, value, sign, bound, unit]) => judge(goal, value(found) ?? NaN, sign, bound, unit))

/** Returns the ratio; NaN if a value is unknown. */
export const shareOf = (part: number | undefined, whole: number | undefined): number => (part ?? NaN) / (whole ?? NaN)

/** Formats a number with a useful precision. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : 2)
}

export const labelWidth = 38

/** One line of a table: a label and the figures of its columns. */
export function row(label: string, cells: readonly (string | number)[]): string {
  const shown = cells.map((cell) => (typeof cell === 'number' ? figure(cell) : cell).padStart(11))
  return `  ${label.padEnd(labelWidth)}${shown.join('')}`
}

export const sampleHead = row('', ['msg/s', 'p50 ms', 'p99 ms', 'dot p50', 'dot p99', 'CPU µs/msg', 'MiB', 'load CPU'])

const line = (label: string, values: readonly (number | undefined)[]): string =>
  row(
    label,
    values.map((value) => value ?? NaN),
  )

export const sampleRow = (label: string, sample: Sample): string =>
  line(label, [
    ...[sample.perSecond, sample.p50, sample.p99, sample.dotP50, sample.dotP99],
    ...[sample.cpuMicros, sample.memoryMebibytes, sample.generatorCpu],
  ])

/** Head of the lines with Postern's cost per message. */
export const costHead = row('', ['main µs', 'libuv µs', 'V8 µs', 'workers µs', 'rows', 'octets', 'commits', 'syncs'])

export const costRow = (label: string, sample: Sample): string =>
  line(label, [
    ...[sample.mainMicros, sample.libuvMicros, sample.v8Micros, sample.workerMicros],
    ...[sample.rows, sample.bytes, sample.commits, sample.syncs],
  ])
