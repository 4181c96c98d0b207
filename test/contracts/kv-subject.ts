/** The map under test, and short forms for the contract. */
import type { Add, Bytes, Check, Entry, Kv, Range, Write, WriteResult } from '#store/kv.ts'
import { pack, within } from '#store/tuple.ts'

/** Access to an implementation. */
export interface KvSubject {
  /** A new, empty map. */
  open(): Promise<Kv>
  /** Closes the map and opens it again. */
  reopen(kv: Kv): Promise<Kv>
}

/** Creates a write with names as keys. */
export interface Parts {
  readonly checks?: readonly Check[]
  readonly sets?: readonly (readonly [key: string, value: string | Bytes])[]
  readonly deletes?: readonly string[]
  readonly adds?: readonly (Omit<Add, 'key'> & { readonly key: string })[]
}

export const key = (name: string): Bytes => pack(['contract', name])
export const everything = within(['contract'])
export const nameOf = (bytes: Bytes): string => Buffer.from(bytes.subarray(pack(['contract']).length + 1, -1)).toString()
export const textOf = (entry: Entry | undefined): string | undefined => entry && Buffer.from(entry.value).toString()
/** The part of a write's outcome that does not depend on earlier writes. */
export type Outcome = { readonly ok: true } | Exclude<WriteResult, { readonly ok: true }>
export const ok: Outcome = { ok: true }

export const write = async (kv: Kv, { checks = [], sets = [], deletes = [], adds = [] }: Parts): Promise<Outcome> => {
  const whole: Write = {
    checks,
    sets: sets.map(([name, value]) => ({ key: key(name), value: Buffer.from(value) })),
    deletes: deletes.map(key),
    adds: adds.map((add) => ({ ...add, key: key(add.key) })),
  }
  const result = await kv.write(whole)
  return result.ok ? ok : result
}
export const read = async (kv: Kv, name: string): Promise<string | undefined> => textOf(await kv.get(key(name)))
export const check = async (kv: Kv, name: string): Promise<Check> => ({ key: key(name), version: (await kv.get(key(name)))?.version })
export const absent = (name: string): Check => ({ key: key(name), version: undefined })
export const count = (kv: Kv, name: string): Promise<number> => kv.counter(key(name))

export async function names(kv: Kv, range: Partial<Range> = {}): Promise<string[]> {
  const found: string[] = []
  for await (const entry of kv.range({ ...everything, ...range })) found.push(nameOf(entry.key))
  return found
}
