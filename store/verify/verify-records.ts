/** Compares records with their schema, and with their index rows in both directions. */
import { decode } from '../change.ts'
import type { Database } from '../database.ts'
import { StoreFailure, type Bytes, type Entry } from '../kv.ts'
import { indexRows, keyOf, type IndexRow, type AnyKind } from '../record-kind.ts'
import { decodeRecord } from '../record-version.ts'
import { describeKey, type Element } from '../tuple.ts'

/** Returns problems of a record with a valid schema, one sentence each. */
export type RecordCheck = (organizationId: string, record: unknown) => Promise<readonly string[]>

const maxTries = 5

/** Decodes a record and checks its schema and key. */
export function readRecord(
  kind: AnyKind,
  [organizationId]: readonly Element[],
  entry: Entry,
): { readonly record: unknown; readonly problem?: undefined } | { readonly record?: undefined; readonly problem: string } {
  const record = parsed(() => decodeRecord(kind, entry))
  if (record instanceof StoreFailure) return { problem: `it cannot be read: ${record.message}` }
  const schema = kind.schema.safeParse(record)
  if (schema.success) {
    const key = keyOf(kind, String(organizationId), record as never)
    return Buffer.compare(key, entry.key) === 0 ? { record } : { problem: 'its id differs from the id in its key.' }
  }
  const issue = schema.error.issues[0]
  return { problem: `it does not fit its schema: ${issue?.path.join('.')} ${issue?.message}.` }
}

/** Returns the index rows of a record without duplicates. */
export const distinctRows = (kind: AnyKind, organizationId: string, record: unknown): IndexRow[] => [
  ...new Map(indexRows(kind, organizationId, record as never).map((row) => [Buffer.from(row.key).toString('latin1'), row])).values(),
]

/** Returns problems that a walk found in a record and that a second look confirmed. */
export async function verifyRecord(
  database: Database,
  kind: AnyKind,
  key: readonly Element[],
  entry: Entry,
  check: RecordCheck,
): Promise<readonly string[]> {
  const problemsOf = async (now: Entry | undefined): Promise<readonly string[]> => {
    const { record } = now ? readRecord(kind, key, now) : {}
    return record === undefined ? [] : check(String(key[0]), record)
  }
  if ((await problemsOf(entry)).length === 0) return []
  const problems = await settled(database, entry.key, problemsOf)
  return problems.map((problem) => `${kind.name} ${describeKey(entry.key)}: ${problem}`)
}

/** Returns problems of missing or different index rows of a record. */
export const missingRows =
  (database: Database, kind: AnyKind): RecordCheck =>
  async (organizationId, record) => {
    const rows = distinctRows(kind, organizationId, record)
    const stored = await database.kv.getMany(rows.map((row) => row.key))
    return rows.filter((row, i) => !same(stored[i], row)).map((row) => `its index row ${describeKey(row.key)} is missing.`)
  }

/** Returns problems that a walk found in an index row and that a second look confirmed. */
export async function verifyIndexRow(database: Database, kind: AnyKind, key: readonly Element[], row: Entry): Promise<readonly string[]> {
  const target = targetOf(key, row.value)
  if (!target) return [`index row ${describeKey(row.key)}: its value cannot be read.`]
  const [organizationId, id] = target
  const problemsOf = async (record: Entry | undefined): Promise<readonly string[]> => {
    if (record && hasRow(kind, organizationId, record, row)) return []
    if (!(await database.kv.get(row.key))) return []
    return [record ? `${kind.name} ${id} does not have this row.` : `there is no ${kind.name} ${id}.`]
  }
  const recordAt = await database.keyFor(kind, organizationId, id)
  const problems = recordAt ? await settled(database, recordAt, problemsOf) : await problemsOf(undefined)
  return problems.map((problem) => `index row ${describeKey(row.key)}: ${problem}`)
}

/** Repeats the check until the record is unchanged during a check. Its rows change only with the record. */
async function settled(
  database: Database,
  key: Bytes,
  problemsOf: (record: Entry | undefined) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  for (let tries = 0; tries < maxTries; tries++) {
    const record = await database.kv.get(key)
    const problems = await problemsOf(record)
    if (problems.length === 0) return []
    const after = await database.kv.get(key)
    if (record?.version === after?.version) return problems
  }
  return []
}

const same = (entry: Entry | undefined, row: IndexRow): boolean => entry !== undefined && Buffer.compare(entry.value, row.value) === 0

function hasRow(kind: AnyKind, organizationId: string, entry: Entry, row: Entry): boolean {
  const record = kind.schema.safeParse(parsed(() => decodeRecord(kind, entry)))
  return record.success && indexRows(kind, organizationId, record.data).some(({ key }) => Buffer.compare(key, row.key) === 0)
}

/** Returns the organization and id of the record that an index row refers to. */
function targetOf(key: readonly Element[], value: Bytes): readonly [string, string] | undefined {
  const [organizationId, name] = key
  const sign = /[#!@]/.exec(String(name))?.[0]
  if (sign === '#') return [String(organizationId), String(key.at(-1))]
  if (sign === '!') return [String(organizationId), Buffer.from(value).toString('utf8')]
  const target = parsed(() => decode(value))
  return Array.isArray(target) ? [String(target[0]), String(target[1])] : undefined
}

/** Returns undefined for invalid JSON, and the error if a record cannot be decoded. */
function parsed(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return error instanceof StoreFailure ? error : undefined
  }
}
