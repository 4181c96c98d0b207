/**
 * Numbered steps that bring the store of an earlier release to the current format before the daemon accepts requests. A step works in small
 * writes and continues after a crash, because the store shows its progress. Its number is stored when it is complete.
 */
import { owners } from './carry.ts'
import { Change, encode } from '../change.ts'
import type { Database } from '../database.ts'
import { formatKey, formOf } from './store-form.ts'

/** One step. Its number is its place in the list, from 1, and never changes: new steps are added at the end. */
export interface Migration {
  /** Description for the log. */
  readonly name: string
  /**
   * Does the remaining work in bounded writes, while nothing else writes. Returns the amount of work. A repetition changes nothing.
   * `progress` receives the amount until then.
   */
  readonly run: (database: Database, progress: (done: number) => void) => Promise<number>
}

/** A report about a step: its start, its progress or its end. */
export interface MigrationNews {
  readonly number: number
  readonly of: number
  readonly name: string
  readonly state: 'begun' | 'going' | 'ended'
  readonly done: number
}

/** Runs all missing steps in order. A new store needs none. */
export async function migrate(database: Database, steps: readonly Migration[], tell: (news: MigrationNews) => void): Promise<void> {
  const { format } = await formOf(database.kv)
  if (format >= steps.length) return
  if (await isNew(database)) return noteFormat(database, steps.length)
  for (const [before, { name, run }] of [...steps.entries()].slice(format)) {
    const news = { number: before + 1, of: steps.length, name }
    tell({ ...news, state: 'begun', done: 0 })
    const done = await run(database, (soFar) => tell({ ...news, state: 'going', done: soFar }))
    await noteFormat(database, news.number)
    tell({ ...news, state: 'ended', done })
  }
}

async function noteFormat(database: Database, format: number): Promise<void> {
  await database.commit(new Change().set(formatKey, encode(format)))
}

async function isNew(database: Database): Promise<boolean> {
  for await (const _ of owners(database)) return false
  return true
}
