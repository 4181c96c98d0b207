/**
 * Counters and tallies with a part for each of several processes. The row of the key only says that it has parts, which are in another
 * table. A process that adds to its part locks the row of the key FOR SHARE. A process that reads or removes all parts locks it FOR UPDATE.
 */
import type { Client } from 'pg'
import { counterOf, kindOf, kinds, payloadOf, seal, sealCounter, versionOf } from '../../engine/codec.ts'
import type { Bytes } from '../../kv.ts'
import { addCounts, decodeCounts, encodeCounts, foldSubjects, type Counts } from '../../tally.ts'
import { keyName } from '../../tuple.ts'

/** Part of the schema of the store. `bound`: the limit that the ceilings share; for tallies, the largest number of subjects. */
export const partTable = `
  CREATE TABLE IF NOT EXISTS postern_parts (key bytea NOT NULL, writer uuid NOT NULL, stored bytea NOT NULL,
    ceiling double precision, bound double precision, PRIMARY KEY (key, writer));
`

/** Sum of the additions of one process. */
export interface Part {
  readonly key: Bytes
  readonly writer: string
  /** Same form as the value of a row: a counter, or counts by name. */
  readonly stored: Bytes
  /** Largest value of this part that needs no look at other parts. Null without a limit. */
  readonly ceiling: number | null
  readonly bound: number | null
}

export interface StoredRow {
  readonly key: Buffer
  readonly stored: Buffer
}

export const isInParts = (stored: Bytes): boolean => kindOf(stored) === kinds.counterInParts || kindOf(stored) === kinds.talliesInParts

const whole = {
  name: 'postern whole',
  text: `SELECT key, stored, NULL::float8 AS bound, true AS first FROM postern_rows WHERE key = ANY($1::bytea[])
    UNION ALL SELECT key, stored, bound, false FROM postern_parts WHERE key = ANY($1::bytea[])`,
}

interface WholeRow extends StoredRow {
  readonly bound: number | null
  readonly first: boolean
}

/** Runs one statement, which sees one point in time. */
export type Ask = (statement: { readonly name: string; readonly text: string }, values: unknown[]) => Promise<readonly WholeRow[]>

/** Replaces marks of parts by the sums of the parts. Omits rows that were deleted in the meantime. */
export async function withSums(rows: readonly StoredRow[], ask: Ask): Promise<readonly StoredRow[]> {
  const keys = rows.flatMap(({ key, stored }) => (isInParts(stored) ? [key] : []))
  if (keys.length === 0) return rows
  const found = Map.groupBy(await ask(whole, [keys]), ({ key }) => keyName(key))
  return rows.flatMap(({ key, stored }) => {
    if (!isInParts(stored)) return [{ key, stored }]
    const all = found.get(keyName(key)) ?? []
    const base = all.find(({ first }) => first)
    if (!base || !isInParts(base.stored)) return base ? [base] : []
    const sum = sumOf(base.stored, all.filter(({ first }) => !first)) // prettier-ignore
    return [{ key, stored: Buffer.from(sum.buffer, sum.byteOffset, sum.byteLength) }]
  })
}

export const totalOf = (parts: readonly { readonly stored: Bytes }[]): number =>
  parts.reduce((sum, { stored }) => sum + counterOf(stored), 0)

export function countsOf(parts: readonly { readonly stored: Bytes }[]): Counts {
  const counts: Counts = new Map()
  for (const { stored } of parts) addCounts(counts, decodeCounts(payloadOf(stored)))
  return counts
}

/** Returns the sum as one row would store it. */
function sumOf(base: Bytes, parts: readonly { readonly stored: Bytes; readonly bound: number | null }[]): Bytes {
  const version = parts.reduce((latest, { stored }) => (versionOf(stored) > latest ? versionOf(stored) : latest), versionOf(base))
  if (kindOf(base) === kinds.counterInParts) return sealCounter(version, totalOf(parts))
  const counts = countsOf(parts)
  const most = parts.find(({ bound }) => bound !== null)?.bound
  if (typeof most === 'number') foldSubjects(counts, most)
  return seal(version, encodeCounts(counts))
}

const ownParts = {
  name: 'postern own parts',
  text: 'SELECT key, writer, stored, ceiling, bound FROM postern_parts WHERE key = ANY($1::bytea[]) AND writer = $2',
}
/** The next process that reads all parts takes over parts of ended processes. */
const allParts = {
  name: 'postern all parts',
  text: `SELECT key, writer, stored, ceiling, bound, EXISTS (SELECT FROM postern_writers WHERE id = writer) AS lives
    FROM postern_parts WHERE key = ANY($1::bytea[])`,
}

export const readOwnParts = async (client: Client, keys: readonly Buffer[], writer: string): Promise<readonly Part[]> =>
  keys.length === 0 ? [] : (await client.query<Part>({ ...ownParts, values: [keys, writer] })).rows

export const readAllParts = async (client: Client, keys: readonly Buffer[]): Promise<readonly (Part & { readonly lives: boolean })[]> =>
  keys.length === 0 ? [] : (await client.query<Part & { readonly lives: boolean }>({ ...allParts, values: [keys] })).rows

const remove = { name: 'postern remove parts', text: 'DELETE FROM postern_parts WHERE key = ANY($1::bytea[])' }
const update = {
  name: 'postern update parts',
  text: `UPDATE postern_parts AS p SET stored = g.stored FROM unnest($1::bytea[], $2::bytea[]) AS g(key, stored)
    WHERE p.key = g.key AND p.writer = $3`,
}
const insert = {
  name: 'postern insert parts',
  text: `INSERT INTO postern_parts (key, writer, stored, ceiling, bound)
    SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::bytea[], $4::float8[], $5::float8[])`,
}

/** Changes of a group to parts. */
export interface PartChanges {
  /** Keys whose parts are all deleted, before new parts are inserted. */
  readonly removed: readonly Buffer[]
  readonly made: readonly Part[]
  /** New values of the parts of this process. */
  readonly updated: readonly { readonly key: Bytes; readonly stored: Bytes }[]
}

/** Sends all changes at once. Resolves when all are done, or rejects with the first failure. */
export async function writeParts(client: Client, { removed, made, updated }: PartChanges, writer: string): Promise<void> {
  const sent: Promise<unknown>[] = []
  const column = <Name extends keyof Part>(name: Name): Part[Name][] => made.map((part) => part[name])
  if (removed.length > 0) sent.push(client.query({ ...remove, values: [removed] }))
  if (made.length > 0) {
    const values = [column('key'), column('writer'), column('stored'), column('ceiling'), column('bound')]
    sent.push(client.query({ ...insert, values }))
  }
  if (updated.length > 0) {
    const values = [updated.map(({ key }) => key), updated.map(({ stored }) => stored), writer]
    sent.push(client.query({ ...update, values }))
  }
  for (const one of await Promise.allSettled(sent)) if (one.status === 'rejected') throw one.reason
}
