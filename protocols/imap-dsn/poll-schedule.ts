/** When a mailbox is looked into next. Pure. */
import type { PollProblem } from './poll-failure.ts'

const second = 1000
const minute = 60 * second
/** However it was set up, a server is not asked more often. */
const shortestMs = 30 * second
const longestMs = 60 * minute
/** Servers lock out who keeps coming with a wrong password. */
const loginMs = 5 * minute
/** This share either way, so that many mailboxes of one server do not come together. */
const jitter = 0.1

/** Milliseconds after a success. `random` is in [0, 1). */
export const delayAfterSuccess = (intervalSeconds: number, random: number): number =>
  Math.max(shortestMs, intervalSeconds * second * spread(random))

/** Milliseconds after the nth failure in a row: twice as long each time, up to an hour. */
export function delayAfterFailure(intervalSeconds: number, failures: number, problem: PollProblem, random: number): number {
  const first = Math.max(intervalSeconds * second, problem === 'login' ? loginMs : shortestMs)
  const delay = Math.min(first * 2 ** Math.min(failures - 1, 20), Math.max(longestMs, intervalSeconds * second))
  return Math.max(shortestMs, delay * spread(random))
}

/** Milliseconds before the first look of this process: at once for a new mailbox, else within an interval. */
export const delayAtStart = (intervalSeconds: number, isNew: boolean, random: number): number =>
  isNew ? 0 : intervalSeconds * second * random

const spread = (random: number): number => 1 + jitter * (2 * random - 1)
