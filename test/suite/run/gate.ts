/**
 * Decides which failures are red. In the exact lane every failure is. In the other lanes a test that passes when repeated alone is
 * unstable, which counts as passed once in seven days. A failed ledger is always red.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestLane } from '../lanes.ts'
import { nameOf } from '../process/plan.ts'
import type { Failure } from './outcomes.ts'

/** Assertions that mail was lost or doubled, that a tenant saw data of another or that `verify` found a problem begin their message so. */
const ledger = /^ledger: /

/** With more failures than this a lane is broken rather than unstable, and nothing is repeated. */
const mostRepeated = 20

/** Returns the failures to repeat, each alone. */
export function repeatable(lane: TestLane, failures: readonly Failure[]): readonly Failure[] {
  if (lane === 'exact' || failures.length > mostRepeated) return []
  return failures.filter(({ title, reason }) => title !== '' && !ledger.test(reason))
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

const dayMs = 24 * 3600 * 1000
const ageDays = (day: string, now: number): number => (now - Date.parse(day)) / dayMs

/** Whether the test was unstable within the last seven days, which makes it red now. */
export function isRepeatedlyUnstable(known: readonly Unstable[], failure: Failure, now: number): boolean {
  return known.some(({ day, name }) => name === nameOf(failure) && ageDays(day, now) < 7)
}

/** Lines of `unstable.txt` that are older than 14 days or that cannot be read. */
export function staleUnstable(known: readonly Unstable[], now: number): readonly string[] {
  const isStale = ({ day, name }: Unstable): boolean => !(ageDays(day, now) < 15) || name === ''
  return known
    .filter(isStale)
    .map(({ day, name }) => `${unstablePath}: remove the line "${day} ${name}", it is older than 14 days or not "day, test, error"`)
}

/** The line that the author of a change adds to `unstable.txt`. */
export const unstableLine = (failure: Failure, now: number): string =>
  [new Date(now).toISOString().slice(0, 10), nameOf(failure), failure.reason].join('\t')
