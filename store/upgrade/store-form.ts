/** The form of a store or a backup: its format, and the versions of its records. */
import { decode } from '../json.ts'
import { StoreUnavailable, type Kv } from '../kv.ts'
import { globalKey, type AnyKind } from '../record-kind.ts'
import { versionOf } from '../record-version.ts'
import { pack } from '../tuple.ts'

/** The second and last element of the keys; the first one is that of global keys. */
export const versionsFamily = 'versions'
export const formatFamily = 'format'
export const versionsKey = globalKey(versionsFamily)
export const formatKey = globalKey(formatFamily)

export interface StoreForm {
  /** Number of the last migration; 0 before any migration. */
  readonly format: number
  /** Versions by the name of the kind; 1 for missing kinds. */
  readonly kinds: Readonly<Record<string, number>>
}

/** Returns the form that this release writes. */
export const formOfRelease = (migrations: number, kinds: readonly AnyKind[]): StoreForm => ({
  format: migrations,
  kinds: Object.fromEntries(kinds.map((kind) => [kind.name, versionOf(kind)])),
})

/** Returns the form that the store records. */
export async function formOf(kv: Pick<Kv, 'getMany'>): Promise<StoreForm> {
  const [format, kinds] = await kv.getMany([pack(formatKey), pack(versionsKey)])
  return { format: format ? decode<number>(format.value) : 0, kinds: kinds ? decode<StoreForm['kinds']>(kinds.value) : {} }
}

/**
 * Returns why a release with the form `ours` cannot use a store or backup with the form `theirs`, as the end of a sentence. Returns
 * undefined if it can.
 */
export function whyNewer(theirs: StoreForm, ours: StoreForm): string | undefined {
  const kinds = Object.entries(theirs.kinds).flatMap(([name, version]) => (version > (ours.kinds[name] ?? 1) ? [name] : []))
  const by = 'was written by a newer release'
  if (kinds.length > 0) return `${by}: this one cannot read its records of the kinds ${kinds.join(', ')}.`
  return theirs.format > ours.format ? `${by}, in format ${theirs.format}: this one knows formats up to ${ours.format}.` : undefined
}

/** Throws `StoreUnavailable` if a newer release has written to the store. Call it before any write. */
export async function requireReadable(kv: Pick<Kv, 'getMany'>, ours: StoreForm): Promise<void> {
  const why = whyNewer(await formOf(kv), ours)
  if (why !== undefined) throw new StoreUnavailable(`The store ${why} Start that release, or restore a backup made before the upgrade.`)
}
