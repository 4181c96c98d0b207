/**
 * When each API key, each SMTP credential and each grant of an application was used last, to within some minutes: a request never waits
 * for this, and most write nothing.
 */
import { Change } from '#store/change.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Core } from '../../core.ts'
import { RecentMap } from '../../recent-map.ts'

const schema = z.strictObject({
  /** Of the key, credential or grant. */
  id: z.string(),
  projectId: z.string().nullable(),
  usedAt: z.int(),
})

/** Beside the key and not in it: a use is no change of settings, and nothing for the audit log. */
export type KeyUse = Immutable<z.infer<typeof schema>>

export const keyUses = defineRecord<KeyUse>({
  name: 'api_key_use',
  schema,
  projectOf: (use) => use.projectId ?? '',
})

/** What is in use is written down at most once in so many milliseconds, by each process. */
export const useStepMs = 300_000
const maxCached = 10_000

export class KeyUses {
  readonly #core: Core
  /** When the last use was written down, by id. */
  readonly #written = new RecentMap<string, number>(maxCached)

  constructor(core: Core) {
    this.#core = core
  }

  /** Writes the use down when it is time to. */
  note(organizationId: string, { id, projectId }: Pick<KeyUse, 'id' | 'projectId'>): void {
    const now = this.#core.clock.now()
    const before = this.#written.get(id)
    if (before !== undefined && now < before + useStepMs) return
    this.#written.set(id, now)
    const change = new Change().insertUnchecked(keyUses, organizationId, { id, projectId, usedAt: now })
    // a store that cannot write ends the process by itself, and one that is closing needs no such row
    this.#core.database.commit(change).catch(() => this.#written.delete(id))
  }

  /** Milliseconds since the epoch, or null for what was never used since uses are written down. */
  async last(organizationId: string, id: string): Promise<number | null> {
    const stored = (await this.#core.database.get(keyUses, { organizationId }, id))?.record.usedAt
    const here = this.#written.get(id) // its write may still be under way
    return stored === undefined && here === undefined ? null : Math.max(stored ?? 0, here ?? 0)
  }
}
