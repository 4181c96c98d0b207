/**
 * The numbered steps that lead a store of an earlier release into the format of this one, before anything is served. A step writes a
 * little at a time, and goes on where a crash left it, as the store says what is done; its number is written once all of it is.
 */
import { owners } from './carry.ts'
import { Change, encode } from '../change.ts'
import type { Database } from '../database.ts'
import { formatKey, formOf } from './store-form.ts'

/** One step. Its place in the list is its number, from 1, and never changes: steps are added at the end alone. */
export interface Migration {
  /** What it does, as the log says it. */
  readonly name: string
  /**
   * Does what is left of it, in writes of a bounded size, while nothing else writes; returns how much that was. Done again, it changes
   * nothing. `progress` is told how much there was so far.
   */
  readonly run: (database: Database, progress: (done: number) => void) => Promise<number>
}

/** What is told of a step: that it begins, how far it is, that it has ended. */
export interface MigrationNews {
  readonly number: number
  readonly of: number
  readonly name: string
  readonly state: 'begun' | 'going' | 'ended'
  readonly done: number
}

/** Carries out the steps that the store has not gone yet, in their order. A new store has nothing to carry over. */
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
