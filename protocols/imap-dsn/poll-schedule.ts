/** Computes when a mailbox is polled next. Pure. */
import type { PollProblem } from './poll-failure.ts'

const second = 1000
const minute = 60 * second
/** Minimum delay between polls, for any configured interval. */
const shortestMs = 30 * second
const longestMs = 60 * minute
/** Minimum delay after a refused login, because servers lock out clients that repeat a wrong password. */
const loginMs = 5 * minute
/** Share of the delay, in both directions. It spreads the polls of several mailboxes on one server. */
const jitter = 0.1

/** Returns the milliseconds until the next poll after a success. `random` is in [0, 1). */
export const delayAfterSuccess = (intervalSeconds: number, random: number): number =>
  Math.max(shortestMs, intervalSeconds * second * spread(random))

/** Returns the milliseconds until the next poll after the nth failure in a row: doubles with each failure, up to an hour. */
export function delayAfterFailure(intervalSeconds: number, failures: number, problem: PollProblem, random: number): number {
  const first = Math.max(intervalSeconds * second, problem === 'login' ? loginMs : shortestMs)
  const delay = Math.min(first * 2 ** Math.min(failures - 1, 20), Math.max(longestMs, intervalSeconds * second))
  return Math.max(shortestMs, delay * spread(random))
}

/** Returns the milliseconds until the first poll of this process: 0 for a new mailbox, otherwise up to one interval. */
export const delayAtStart = (intervalSeconds: number, isNew: boolean, random: number): number =>
  isNew ? 0 : intervalSeconds * second * random

const spread = (random: number): number => 1 + jitter * (2 * random - 1)
