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
import type { LargeValues } from './objects/large-values.ts'
import { packRows, type PackedRow } from './packed-rows.ts'

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
  `BEGIN; UPDATE postern_writers SET token = ${token} WHERE id = '${writer}'; SELECT nextval('postern_version') AS version`
const lock = {
  name: 'postern lock',
  text: `SELECT key, CASE WHEN key = ANY($2::bytea[]) THEN stored ELSE substring(stored FROM 1 FOR ${objectHeadBytes}) END AS stored
    FROM postern_rows WHERE key = ANY($1::bytea[]) ORDER BY key FOR UPDATE`,
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

/** Throws `Overtaken`, `CommitUnknown`, or what the database says; nothing is written then, but for `CommitUnknown`. */
export async function commitGroup(
  client: Client,
  writes: readonly Write[],
  mark: Mark,
  values: LargeValues | undefined,
): Promise<CommittedRows> {
  const { all, whole } = keysOf(writes)
  const [begun, locked] = await settled([
    client.query(beginOf(mark)),
    client.query<{ key: Buffer; stored: Buffer }>({ ...lock, values: [all, whole] }),
  ])
  const version = versionIn(begun)
  const found = new Map(locked.rows.map(({ key, stored }) => [keyName(key), stored]))
  const plan = planGroup(writes, (key) => found.get(keyName(key)), version, values ? values.leastBytes - 1 : Infinity)
  for (const large of plan.large) large.operation.value = values?.sealed(large) ?? seal(large.version, joined(large.pieces))
  const last = new Map(plan.operations.map((operation) => [keyName(operation.key), operation]))
  const unnamed = values ? unnamedBy(plan, last, found, values) : []
  const committed: CommittedRows = { results: plan.results, size: sizeOf(plan), unnamed }
  if (plan.operations.length === 0) {
    await client.query('ROLLBACK')
    return committed
  }
  const applying = client.query({ ...apply, values: valuesOf(last, found) })
  const committing = client.query('COMMIT').catch((error: unknown) => error as Error) // answered behind what it commits
  try {
    await applying
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

/** Both results, or the first failure, once both are settled: nothing is on its way then. */
async function settled<A, B>([first, second]: readonly [Promise<A>, Promise<B>]): Promise<readonly [A, B]> {
  const done = await Promise.allSettled([first, second])
  for (const one of done) if (one.status === 'rejected') throw one.reason
  return Promise.all([first, second])
}

/** `all`: in the store or not, what the writes depend on or change. `whole`: those whose values count. */
function keysOf(writes: readonly Write[]): { readonly all: Buffer[]; readonly whole: Buffer[] } {
  const all = new Map<string, Buffer>()
  const whole = new Map<string, Buffer>()
  const add = (keys: Map<string, Buffer>, key: Bytes): void => void keys.set(keyName(key), bufferOf(key))
  for (const { checks, sets, deletes, adds, tallies = [] } of writes) {
    for (const { key } of checks) add(all, key)
    for (const { key, isNew } of sets) if (!isNew) add(all, key)
    for (const key of deletes) add(all, key)
    for (const { key } of adds) add(all, key)
    for (const { key } of tallies) {
      add(all, key)
      add(whole, key)
    }
  }
  return { all: [...all.values()], whole: [...whole.values()] }
}

const bufferOf = (bytes: Bytes): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The end of a span of versions. Throws `Overtaken` when the writer was taken out. */
function versionIn(results: unknown): bigint {
  const [, marked, versions] = results as readonly { readonly rowCount: number; readonly rows: readonly { readonly version: string }[] }[]
  if (marked?.rowCount !== 1) throw new Overtaken()
  return BigInt(versions?.rows[0]?.version ?? 0)
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
