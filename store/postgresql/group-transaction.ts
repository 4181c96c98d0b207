/**
 * Commits one group of writes as one transaction at READ COMMITTED. It locks rows in key order and evaluates the writes in order against
 * the locked rows. All changes and the commit go out together.
 */
import type { Client } from 'pg'
import { kindOf, kinds, objectHeadBytes, seal } from '../engine/codec.ts'
import { planGroup, sizeOf, type Operation, type Plan } from '../engine/group.ts'
import type { Committed } from '../engine/group-commit.ts'
import { joined, type Bytes, type Write } from '../kv.ts'
import { keyName } from '../tuple.ts'
import { requireSameSession } from './connections/session.ts'
import type { LargeValues } from './objects/large-values.ts'
import { packRows, type PackedRow } from './packed-rows.ts'
import { GroupParts } from './parts/group-parts.ts'
import { readOwnParts, writeParts } from './parts/part-rows.ts'
import type { PartedKeys } from './parts/parted-keys.ts'

/** The writing process, and the number of this group among its groups. */
export interface Mark {
  readonly writer: string
  readonly token: number
}

/** Another process inserted a row after the look-up, so the group starts again; or the writer was removed. */
export class Overtaken extends Error {}

/** The commit got no response. The row of the writer shows whether it took place. */
export class CommitUnknown extends Error {
  readonly committed: CommittedRows

  constructor(committed: CommittedRows, cause: unknown) {
    super('The connection was lost during a commit.', { cause })
    this.committed = committed
  }
}

/** Outcome of a group, and the objects that no row names any longer. */
export interface CommittedRows extends Committed {
  readonly unnamed: readonly string[]
}

/**
 * Locks the row of the writer until the end. A query on another connection for the outcome of this group then waits for statements that are
 * still in transit.
 */
const beginOf = ({ writer, token }: Mark): string =>
  `BEGIN; UPDATE postern_writers SET token = ${token} WHERE id = '${writer}'; SELECT nextval('postern_version') AS version, pg_backend_pid() AS pid`
const lock = {
  name: 'postern lock',
  text: `SELECT key, CASE WHEN key = ANY($2::bytea[]) THEN stored ELSE substring(stored FROM 1 FOR ${objectHeadBytes}) END AS stored
    FROM postern_rows WHERE key = ANY($1::bytea[]) ORDER BY key FOR UPDATE`,
}
/** Some rows ($3) are locked FOR SHARE: rows that are only checked, and counters with a part for each process. */
const lockShared = {
  name: 'postern lock shared',
  text: `SELECT k.key, CASE WHEN k.whole THEN coalesce(alone.stored, shared.stored)
      ELSE substring(coalesce(alone.stored, shared.stored) FROM 1 FOR ${objectHeadBytes}) END AS stored
    FROM (SELECT key, key = ANY($2::bytea[]) AS whole, key = ANY($3::bytea[]) AS shared FROM unnest($1::bytea[]) AS given(key) ORDER BY key) AS k
    LEFT JOIN LATERAL (SELECT stored FROM postern_rows AS r WHERE r.key = k.key AND NOT k.shared FOR UPDATE) AS alone ON true
    LEFT JOIN LATERAL (SELECT stored FROM postern_rows AS r WHERE r.key = k.key AND k.shared FOR SHARE) AS shared ON true`,
}

/** If a row appeared after the look-up, the statement divides by zero and nothing is committed. */
const apply = {
  name: 'postern apply',
  text: `WITH given AS (
      SELECT substring($1::bytea FROM ka FOR kn) AS key, substring($2::bytea FROM va FOR vn) AS stored, fresh
      FROM unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::bool[]) AS places(ka, kn, va, vn, fresh)),
    gone AS (DELETE FROM postern_rows WHERE key = ANY($8::bytea[])),
    changed AS (UPDATE postern_rows AS r SET stored = g.stored FROM given AS g WHERE r.key = g.key AND NOT g.fresh),
    made AS (INSERT INTO postern_rows (key, stored) SELECT key, stored FROM given WHERE fresh ORDER BY key
      ON CONFLICT (key) DO NOTHING RETURNING 1)
    SELECT 1 / (CASE WHEN (SELECT count(*) FROM made) = $9::int THEN 1 ELSE 0 END) AS done`,
}
const divisionByZero = '22012'

/** Throws `Overtaken`, `NeedsWhole`, `CommitUnknown`, or the error of the database. Only after `CommitUnknown` may the group be written. */
export async function commitGroup(
  client: Client,
  writes: readonly Write[],
  mark: Mark,
  values: LargeValues | undefined,
  known: PartedKeys,
): Promise<CommittedRows> {
  const parts = new GroupParts(writes, known)
  const { all, whole, shared } = keysOf(writes, parts)
  const [begun, locked, own] = await settled([
    client.query(beginOf(mark)),
    client.query<LockedRow>(shared.length > 0 ? { ...lockShared, values: [all, whole, shared] } : { ...lock, values: [all, whole] }),
    readOwnParts(client, parts.sharedKeys, mark.writer),
  ])
  const version = versionIn(begun, client)
  const found = new Map(locked.rows.flatMap(({ key, stored }) => (stored ? [[keyName(key), stored] as const] : [])))
  await parts.hold(client, found, own, version)
  const look = (key: Bytes): Bytes | undefined => parts.look(keyName(key), found.get(keyName(key)))
  const plan = planGroup(parts.underCeilings(writes), look, version, values ? values.leastBytes - 1 : Infinity)
  parts.confirm(plan.results)
  for (const large of plan.large) large.operation.value = values?.sealed(large) ?? seal(large.version, joined(large.pieces))
  const last = new Map(plan.operations.map((operation) => [keyName(operation.key), operation]))
  const changes = parts.divert(last, found)
  const unnamed = values ? unnamedBy(plan, last, found, values) : []
  const committed: CommittedRows = { results: plan.results, size: sizeOf(plan), unnamed }
  if (plan.operations.length === 0) {
    await client.query('ROLLBACK')
    return committed
  }
  const applying = [writeParts(client, changes, mark.writer), client.query({ ...apply, values: valuesOf(last, found) })] as const
  const committing = client.query('COMMIT').catch((error: unknown) => error as Error) // its response follows that of the changes
  try {
    await settled(applying)
  } catch (error) {
    const ending = await committing
    if ((error as { code?: string }).code === divisionByZero) throw new Overtaken()
    // The database rolled back a refused transaction. On a lost connection the outcome is unknown.
    if (ending instanceof Error) throw new CommitUnknown(committed, error)
    throw error
  }
  const ending = await committing
  if (ending instanceof Error) throw new CommitUnknown(committed, ending)
  return committed
}

interface LockedRow {
  readonly key: Buffer
  readonly stored: Buffer | null
}

/** Returns all results, or throws the first failure after all promises have settled. No statement is in transit then. */
async function settled<const All extends readonly Promise<unknown>[]>(all: All): Promise<{ -readonly [I in keyof All]: Awaited<All[I]> }> {
  for (const one of await Promise.allSettled(all)) if (one.status === 'rejected') throw one.reason
  return Promise.all(all)
}

interface GroupKeys {
  /** Keys that the writes check or change, in the store or not. */
  readonly all: Buffer[]
  /** Keys whose whole values are needed. */
  readonly whole: Buffer[]
  /** Keys to lock FOR SHARE. */
  readonly shared: Buffer[]
}

function keysOf(writes: readonly Write[], parts: GroupParts): GroupKeys {
  const all = new Map<string, Buffer>()
  const changed = new Map<string, Buffer>()
  const whole = new Map<string, Buffer>()
  const add = (keys: Map<string, Buffer>, key: Bytes): void => void keys.set(keyName(key), bufferOf(key))
  for (const { checks, sets, deletes, adds, tallies = [] } of writes) {
    for (const { key } of checks) add(all, key)
    for (const { key, isNew } of sets) if (!isNew) add(changed, key)
    for (const key of deletes) add(changed, key)
    for (const { key } of adds) add(changed, key)
    for (const { key } of tallies) {
      add(changed, key)
      add(whole, key)
    }
  }
  for (const [name, key] of changed) all.set(name, key)
  const shared = [...all].flatMap(([name, key]) => (changed.has(name) && !parts.isShared(name) ? [] : [key]))
  return { all: [...all.values()], whole: [...whole.values()], shared }
}

const bufferOf = (bytes: Bytes): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

interface Begun {
  readonly rowCount: number
  readonly rows: readonly { readonly version: string; readonly pid: number }[]
}

/**
 * Returns the version that precedes the versions of this group. Throws `Overtaken` if the writer was removed, and `StoreFailure` in a
 * foreign session.
 */
function versionIn(results: unknown, client: Client): bigint {
  const [, marked, versions] = results as readonly Begun[]
  const [row] = versions?.rows ?? []
  if (row) requireSameSession(client, row.pid)
  if (marked?.rowCount !== 1) throw new Overtaken()
  return BigInt(row?.version ?? 0)
}

/** Objects of rows that the group deletes or replaces, and new objects that a later write of the group replaced. */
function unnamedBy(
  { large }: Plan,
  last: ReadonlyMap<string, Operation>,
  found: ReadonlyMap<string, Bytes>,
  values: LargeValues,
): readonly string[] {
  const before = [...last].flatMap(([name, { key }]) => {
    const stored = found.get(name)
    return stored && kindOf(stored) === kinds.object ? values.nameIn(key, stored) : []
  })
  const inVain = large.filter(({ key, operation }) => last.get(keyName(key)) !== operation)
  return [...before, ...values.namesOf(inVain.map(({ setting }) => setting))]
}

/** The last change of each key in the group, as parameters of `apply`. */
function valuesOf(last: ReadonlyMap<string, Operation>, found: ReadonlyMap<string, Bytes>): unknown[] {
  const kept: PackedRow[] = []
  const gone: Buffer[] = []
  const fresh: boolean[] = []
  for (const [name, { type, key, value }] of last) {
    const isThere = found.has(name)
    if (type === 'del') {
      if (isThere) gone.push(bufferOf(key))
      continue
    }
    kept.push({ key, stored: value })
    fresh.push(!isThere)
  }
  return [...packRows(kept), fresh, gone, fresh.filter(Boolean).length]
}
