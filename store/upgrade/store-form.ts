/** In which form a store, or a backup of one, was written: its format, and the versions of its records. */
import { decode } from '../json.ts'
import { StoreUnavailable, type Kv } from '../kv.ts'
import { globalKey, type AnyKind } from '../record-kind.ts'
import { versionOf } from '../record-version.ts'
import { pack } from '../tuple.ts'

/** The keys' one element after that of keys that belong to no organization. */
export const versionsFamily = 'versions'
export const formatFamily = 'format'
export const versionsKey = globalKey(versionsFamily)
export const formatKey = globalKey(formatFamily)

export interface StoreForm {
  /** The number of the last migration; 0 before there was any. */
  readonly format: number
  /** By the name of the kind; 1 for kinds that are not there. */
  readonly kinds: Readonly<Record<string, number>>
}

/** The form that this release writes. */
export const formOfRelease = (migrations: number, kinds: readonly AnyKind[]): StoreForm => ({
  format: migrations,
  kinds: Object.fromEntries(kinds.map((kind) => [kind.name, versionOf(kind)])),
})

/** The form that a store says it has. */
export async function formOf(kv: Pick<Kv, 'getMany'>): Promise<StoreForm> {
  const [format, kinds] = await kv.getMany([pack(formatKey), pack(versionsKey)])
  return { format: format ? decode<number>(format.value) : 0, kinds: kinds ? decode<StoreForm['kinds']>(kinds.value) : {} }
}

/** What keeps a release of the form `ours` from what has the form `theirs`, as the end of a sentence; undefined for nothing. */
export function whyNewer(theirs: StoreForm, ours: StoreForm): string | undefined {
  const kinds = Object.entries(theirs.kinds).flatMap(([name, version]) => (version > (ours.kinds[name] ?? 1) ? [name] : []))
  const by = 'was written by a newer release'
  if (kinds.length > 0) return `${by}: this one cannot read its records of the kinds ${kinds.join(', ')}.`
  return theirs.format > ours.format ? `${by}, in format ${theirs.format}: this one knows formats up to ${ours.format}.` : undefined
}

/** Throws `StoreUnavailable` when a newer release has written to the store; to be called before anything is written. */
export async function requireReadable(kv: Pick<Kv, 'getMany'>, ours: StoreForm): Promise<void> {
  const why = whyNewer(await formOf(kv), ours)
  if (why !== undefined) throw new StoreUnavailable(`The store ${why} Start that release, or restore a backup from before it.`)
}
