/** Assigns the next number of a year in the write that creates the document. A crash therefore leaves no gaps and no duplicates. */
import { decode, encode, type Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import { numberKey, numberOf, type DocumentType } from './invoice-document.ts'

export async function takeNumber(database: Database, change: Change, type: DocumentType, nowMs: number): Promise<string> {
  const year = new Date(nowMs).getUTCFullYear()
  const key = numberKey(type, year)
  const entry = await database.kv.get(pack(key))
  const next = (entry ? decode<number>(entry.value) : 0) + 1
  change.check(key, entry?.version).set(key, encode(next))
  return numberOf(type, year, next)
}
