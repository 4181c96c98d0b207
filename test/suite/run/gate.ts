/**
 * Decides which failures are red. In the exact lane all failures are. In the other lanes a test that passes when repeated alone is
 * unstable, which counts as passed once in seven days. A failed ledger is always red.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestLane } from '../lanes.ts'
import { isLedger, nameOf } from '../process/plan.ts'
import type { Failure } from './outcomes.ts'

/** With more failures than this a lane is broken rather than unstable, and nothing is repeated. */
const mostRepeated = 20

/** Returns the failures to repeat, each alone. */
export function repeatable(lane: TestLane, failures: readonly Failure[]): readonly Failure[] {
  if (lane === 'exact' || failures.length > mostRepeated) return []
  return failures.filter(({ title, reason, isFinal }) => title !== '' && !isFinal && !isLedger(reason))
}

/** A line of `unstable.txt`: day (`2026-11-30`), test and first error, separated by tabs. */
export interface Unstable {
  readonly day: string
  readonly name: string
  readonly reason: string
}

export const unstablePath = 'test/suite/unstable.txt'

/** Parses `unstable.txt`; lines that begin with `#` are comments. */
export function unstableTests(text: string): readonly Unstable[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [day = '', name = '', reason = ''] = line.split('\t')
    return { day, name, reason }
  })
}

export const readUnstable = (root: string): readonly Unstable[] => unstableTests(readFileSync(join(root, unstablePath), 'utf8'))

/** Returns the existing modules that contain these tests. */
export function unstableModules(root: string, known: readonly Unstable[]): readonly string[] {
  const paths = known.map(({ name }) => `test/${name.replace(/ › .*$/s, '')}.test.ts`)
  return [...new Set(paths)].filter((path) => existsSync(join(root, path)))
}

const dayMs = 24 * 3600 * 1000
/** Returns the days from `day` to today; NaN for a malformed day. */
const ageDays = (day: string, now: number): number =>
  /^\d{4}-\d\d-\d\d$/.test(day) ? Math.floor(now / dayMs) - Date.parse(day) / dayMs : NaN

/** Whether the test was unstable within the last seven days, which makes it red now. */
export function isRepeatedlyUnstable(known: readonly Unstable[], failure: Failure, now: number): boolean {
  return known.some(({ day, name }) => name === nameOf(failure) && ageDays(day, now) <= 7)
}

/** Reports lines of `unstable.txt` that are older than 14 days, in the future or malformed. */
export function staleUnstable(known: readonly Unstable[], now: number): readonly string[] {
  const isFine = ({ day, name, reason }: Unstable): boolean =>
    ageDays(day, now) >= 0 && ageDays(day, now) <= 14 && name !== '' && reason !== ''
  return known
    .filter((one) => !isFine(one))
    .map(
      ({ day, name }) => `${unstablePath}: remove "${day} ${name}"; a line is a day of the last 14 days, a test and its error, with tabs`,
    )
}

/** The line that the author of a change adds to `unstable.txt`. */
export const unstableLine = (failure: Failure, now: number): string =>
  [new Date(now).toISOString().slice(0, 10), nameOf(failure), failure.reason].join('\t')
