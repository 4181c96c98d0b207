/**
 * Records the last use of each API key, SMTP credential and application grant, to within five minutes. Requests do not wait for this write,
 * and most requests cause no write.
 */
import { Change } from '#store/change.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import type { Core } from '../../core.ts'
import { RecentMap } from '../../recent-map.ts'

const schema = z.strictObject({
  /** Id of the key, credential or grant. */
  id: z.string(),
  projectId: z.string().nullable(),
  usedAt: z.int(),
})

/** Stored separately from the key: a use is not a change of settings and does not belong in the audit log. */
export type KeyUse = Immutable<z.infer<typeof schema>>

export const keyUses = defineRecord<KeyUse>({
  name: 'api_key_use',
  schema,
  projectOf: (use) => use.projectId ?? '',
})

/** Each process stores the use of the same id at most once in this interval. */
export const useStepMs = 300_000
const maxCached = 10_000

export class KeyUses {
  readonly #core: Core
  /** Time of the last stored use, by id. */
  readonly #written = new RecentMap<string, number>(maxCached)

  constructor(core: Core) {
    this.#core = core
  }

  /** Stores the use unless this process stored one within `useStepMs`. */
  note(organizationId: string, { id, projectId }: Pick<KeyUse, 'id' | 'projectId'>): void {
    const now = this.#core.clock.now()
    const before = this.#written.get(id)
    if (before !== undefined && now < before + useStepMs) return
    this.#written.set(id, now)
    const change = new Change().insertUnchecked(keyUses, organizationId, { id, projectId, usedAt: now })
    // if the store cannot write, it ends the process itself; a store that is closing can lose this row
    this.#core.database.commit(change).catch(() => this.#written.delete(id))
  }

  /** Returns milliseconds since the epoch, or null if no use was ever recorded. */
  async last(organizationId: string, id: string): Promise<number | null> {
    const stored = (await this.#core.database.get(keyUses, { organizationId }, id))?.record.usedAt
    const here = this.#written.get(id) // its write may still be in flight
    return stored === undefined && here === undefined ? null : Math.max(stored ?? 0, here ?? 0)
  }
}
