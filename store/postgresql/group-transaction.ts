/**
 * One group of writes as one transaction at READ COMMITTED: rows are locked in the order of their keys, the writes are evaluated in order
 * against what is locked, and what they change is sent in one statement with the commit behind it.
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

/** Who writes, and the number of this group among its own. */
export interface Mark {
  readonly writer: string
  readonly token: number
}

/** A row was made by another process since it was looked for: the group begins again. Or the writer was taken out. */
export class Overtaken extends Error {}

/** No answer came to the commit: whether it took place stands in the row of the writer. */
export class CommitUnknown extends Error {
  readonly committed: CommittedRows

  constructor(committed: CommittedRows, cause: unknown) {
    super('The connection broke off at a commit.', { cause })
    this.committed = committed
  }
}

/** The outcome of a group, and the objects that no row names any more. */
export interface CommittedRows extends Committed {
  readonly unnamed: readonly string[]
}

/**
 * The row of the writer is locked from here to the end, so that who asks on another connection whether this group took place waits for
 * what is still on its way to the server on this one.
 */
const beginOf = ({ writer, token }: Mark): string =>
  `BEGIN; UPDATE postern_writers SET token = ${token} WHERE id = '${writer}'; SELECT nextval('postern_version') AS version, pg_backend_pid() AS pid`
const lock = {
  name: 'postern lock',
  text: `SELECT key, CASE WHEN key = ANY($2::bytea[]) THEN stored ELSE substring(stored FROM 1 FOR ${objectHeadBytes}) END AS stored
    FROM postern_rows WHERE key = ANY($1::bytea[]) ORDER BY key FOR UPDATE`,
}
/** Some rows are held with others ($3): those that are only checked, and counters of which each process has a part. */
const lockShared = {
  name: 'postern lock shared',
  text: `SELECT k.key, CASE WHEN k.whole THEN coalesce(alone.stored, shared.stored)
      ELSE substring(coalesce(alone.stored, shared.stored) FROM 1 FOR ${objectHeadBytes}) END AS stored
    FROM (SELECT key, key = ANY($2::bytea[]) AS whole, key = ANY($3::bytea[]) AS shared FROM unnest($1::bytea[]) AS given(key) ORDER BY key) AS k
    LEFT JOIN LATERAL (SELECT stored FROM postern_rows AS r WHERE r.key = k.key AND NOT k.shared FOR UPDATE) AS alone ON true
    LEFT JOIN LATERAL (SELECT stored FROM postern_rows AS r WHERE r.key = k.key AND k.shared FOR SHARE) AS shared ON true`,
}

/** A row that is there although it was not when rows were locked divides by zero, and nothing is committed. */
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

/** Throws `Overtaken`, `NeedsWhole`, `CommitUnknown`, or what the database says; nothing is written then, but for `CommitUnknown`. */
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
  const committing = client.query('COMMIT').catch((error: unknown) => error as Error) // answered behind what it commits
  try {
    await settled(applying)
  } catch (error) {
    const ending = await committing
    if ((error as { code?: string }).code === divisionByZero) throw new Overtaken()
    // the database rolled back what it refused; its outcome on a connection that is gone is not known
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

/** All results, or the first failure, once all are settled: nothing is on its way then. */
async function settled<const All extends readonly Promise<unknown>[]>(all: All): Promise<{ -readonly [I in keyof All]: Awaited<All[I]> }> {
  for (const one of await Promise.allSettled(all)) if (one.status === 'rejected') throw one.reason
  return Promise.all(all)
}

interface GroupKeys {
  /** In the store or not, what the writes depend on or change. */
  readonly all: Buffer[]
  /** Those whose values count. */
  readonly whole: Buffer[]
  /** Those that may be held with others. */
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

/** The end of a span of versions. Throws `Overtaken` when the writer was taken out, and `StoreFailure` in a session that is not ours. */
function versionIn(results: unknown, client: Client): bigint {
  const [, marked, versions] = results as readonly Begun[]
  const [row] = versions?.rows ?? []
  if (row) requireSameSession(client, row.pid)
  if (marked?.rowCount !== 1) throw new Overtaken()
  return BigInt(row?.version ?? 0)
}

/** Those that rows named which are gone or set anew, and those that the group itself made in vain. */
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

/** What is left of each key at the end of the group. */
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
