/** Attempts, errors and latency of the last hour in constant memory: a ring of minutes, each with a small histogram. */

/** Figures of the window. Percentiles are upper bounds of their bucket in milliseconds, null without attempts. */
export interface HourFigures {
  readonly attempts: number
  readonly errors: number
  /** Errors divided by attempts; 0 without attempts. */
  readonly errorRate: number
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  /** Exact latency of the last attempt. */
  readonly lastMs: number | null
}

const minutes = 60
const minuteMs = 60_000
/** Upper bounds grow by half: from 4 ms to 18 minutes in 32 steps. A percentile exceeds the true value by at most half. */
const bounds: readonly number[] = Array.from({ length: 32 }, (_, at) => Math.round(4 * 1.5 ** at))
/** attempts, errors, then the histogram */
const width = 2 + bounds.length

export class RollingHour {
  readonly #cells = new Uint32Array(minutes * width)
  /** The minute that each row of cells counts. */
  readonly #minuteOf = new Float64Array(minutes).fill(-1)
  #last = { minute: -Infinity, ms: 0 }

  /** Counts an attempt that ended at `nowMs` on the monotonic clock. */
  add(nowMs: number, latencyMs: number, isError: boolean): void {
    const minute = Math.floor(nowMs / minuteMs)
    const row = minute % minutes
    const at = row * width
    if (this.#minuteOf[row] !== minute) {
      this.#cells.fill(0, at, at + width)
      this.#minuteOf[row] = minute
    }
    this.#last = { minute, ms: Math.round(latencyMs) }
    this.#count(at)
    if (isError) this.#count(at + 1)
    const bucket = bounds.findIndex((bound) => latencyMs <= bound)
    this.#count(at + 2 + (bucket < 0 ? bounds.length - 1 : bucket))
  }

  /** Returns the figures of the last `span` minutes, including the current one; by default of the whole hour. */
  figures(nowMs: number, span: number = minutes): HourFigures {
    const current = Math.floor(nowMs / minuteMs)
    const sums = Array.from({ length: width }, () => 0)
    for (let row = 0; row < minutes; row++) {
      const minute = this.#minuteOf[row] ?? -1
      if (minute < 0 || minute > current || minute <= current - span) continue
      for (let cell = 0; cell < width; cell++) sums[cell] = (sums[cell] ?? 0) + (this.#cells[row * width + cell] ?? 0)
    }
    const [attempts = 0, errors = 0, ...histogram] = sums
    const share = (part: number): number | null => percentile(histogram, attempts, part)
    const lastMs = this.#last.minute > current - span ? this.#last.ms : null
    return { attempts, errors, errorRate: attempts === 0 ? 0 : errors / attempts, p50Ms: share(0.5), p95Ms: share(0.95), lastMs }
  }

  #count(at: number): void {
    this.#cells[at] = (this.#cells[at] ?? 0) + 1
  }
}

function percentile(histogram: readonly number[], total: number, part: number): number | null {
  let seen = 0
  for (const [at, count] of histogram.entries()) {
    seen += count
    if (seen > 0 && seen >= total * part) return bounds[at] ?? null
  }
  return null
}
