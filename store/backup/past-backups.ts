/**
 * Which backups lie in the past of a store. An incremental backup leaves out what has not changed since another one, by versions; those
 * mean nothing when the other one is of another store, or when an older backup was restored since and the versions were given again.
 */
import { decode, encode } from '../json.ts'
import type { Kv } from '../kv.ts'
import { globalKey } from '../record-kind.ts'
import { pack, within } from '../tuple.ts'

/** The keys' one element after that of keys that belong to no organization; the id of the backup follows. */
export const pastBackupsFamily = 'backup'
/** More are forgotten, the oldest first. */
const mostKept = 1000

interface PastBackup {
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The backup to go on from, and the last write that is in it. */
export interface EarlierBackup {
  readonly id: string
  readonly until: bigint
}

/** What was to be gone on from is not in the past of the store. */
export class UnknownBackup extends Error {
  override readonly name = 'UnknownBackup'

  constructor(id: string) {
    super(
      `What has changed since the backup ${id} cannot be told: it is of another store, of before an older backup was restored, or one of ` +
        `more than ${mostKept} since. Make a full backup, without --since.`,
    )
  }
}

const keyOf = (id: string): Uint8Array => pack(globalKey(pastBackupsFamily, id))

export const isPastBackup = async (kv: Pick<Kv, 'get'>, id: string): Promise<boolean> => (await kv.get(keyOf(id))) !== undefined

/** Throws `UnknownBackup`. */
export async function requirePastBackup(kv: Pick<Kv, 'get'>, id: string): Promise<void> {
  if (!(await isPastBackup(kv, id))) throw new UnknownBackup(id)
}

/** To be called before the snapshot, so that what is restored from the backup has it in its past as well. */
export async function notePastBackup(kv: Pick<Kv, 'range' | 'write'>, id: string, at: number): Promise<void> {
  const noted: { readonly key: Uint8Array; readonly at: number }[] = []
  for await (const { key, value } of kv.range(within(globalKey(pastBackupsFamily)))) noted.push({ key, at: decode<PastBackup>(value).at })
  const tooMany = noted.sort((a, b) => a.at - b.at).slice(0, Math.max(0, noted.length + 1 - mostKept))
  const sets = [{ key: keyOf(id), value: encode({ at } satisfies PastBackup) }]
  await kv.write({ checks: [], sets, deletes: tooMany.map(({ key }) => key), adds: [] })
}
