/**
 * Backups in the past of a store. An incremental backup omits rows whose version has not changed since an earlier backup. Versions mean
 * nothing if that backup belongs to another store. The same applies after a restore of an older backup, because the store then reuses
 * versions.
 */
import { decode, encode } from '../json.ts'
import type { Kv } from '../kv.ts'
import { globalKey } from '../record-kind.ts'
import { pack, within } from '../tuple.ts'

/** The second element of global keys. The id of the backup follows. */
export const pastBackupsFamily = 'backup'
/** Beyond this number, the oldest are deleted. */
const mostKept = 1000

interface PastBackup {
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** An earlier backup to continue, and the version of its last write. */
export interface EarlierBackup {
  readonly id: string
  readonly until: bigint
}

/** The store does not know the earlier backup. */
export class UnknownBackup extends Error {
  override readonly name = 'UnknownBackup'

  constructor(id: string) {
    super(
      `The store does not know the backup ${id}. It belongs to another store, an older backup was restored after it, or more than ` +
        `${mostKept} backups were made after it. Make a full backup, without --since.`,
    )
  }
}

const keyOf = (id: string): Uint8Array => pack(globalKey(pastBackupsFamily, id))

export const isPastBackup = async (kv: Pick<Kv, 'get'>, id: string): Promise<boolean> => (await kv.get(keyOf(id))) !== undefined

/** Throws `UnknownBackup`. */
export async function requirePastBackup(kv: Pick<Kv, 'get'>, id: string): Promise<void> {
  if (!(await isPastBackup(kv, id))) throw new UnknownBackup(id)
}

/** Call it before the snapshot, so that a store restored from the backup knows the backup too. */
export async function notePastBackup(kv: Pick<Kv, 'range' | 'write'>, id: string, at: number): Promise<void> {
  const noted: { readonly key: Uint8Array; readonly at: number }[] = []
  for await (const { key, value } of kv.range(within(globalKey(pastBackupsFamily)))) noted.push({ key, at: decode<PastBackup>(value).at })
  const tooMany = noted.sort((a, b) => a.at - b.at).slice(0, Math.max(0, noted.length + 1 - mostKept))
  const sets = [{ key: keyOf(id), value: encode({ at } satisfies PastBackup) }]
  await kv.write({ checks: [], sets, deletes: tooMany.map(({ key }) => key), adds: [] })
}
