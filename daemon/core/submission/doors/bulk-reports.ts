/** What came of a request of many messages, for who asks for it later. */
import { Change, decode, encode } from '#store/change.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'

export interface BulkReport {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Ids of the traces of those that were accepted. */
  readonly accepted: readonly string[]
  /** Why others were not, each with its place in the request. */
  readonly refused: readonly { readonly index: number; readonly message: string }[]
}

const keptMs = 3 * 86_400_000
const maxMessage = 500

export class BulkReports {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Keeps it under the id of its first message, for three days; of a request that has none there is nothing to ask. */
  async keep(principal: Principal, { accepted, refused }: Omit<BulkReport, 'at'>): Promise<void> {
    const { database, clock } = this.#core
    const [id] = accepted
    if (id === undefined) return
    const at = clock.now()
    const key = keyOf(principal, id)
    const short = refused.map(({ index, message }) => [index, message.slice(0, maxMessage)])
    await database.commit(new Change().set(key, encode([at, accepted, short])).expire(at + keptMs, key))
  }

  /** Throws `not_found`. */
  async get(principal: Principal, id: string): Promise<BulkReport> {
    const entry = await this.#core.database.kv.get(pack(keyOf(principal, id)))
    if (!entry) throw new Refusal('not_found', 'No such request of many messages has this id; they are kept for three days.')
    const [at, accepted, refused] = decode<[number, string[], [number, string][]]>(entry.value)
    return { at, accepted, refused: refused.map(([index, message]) => ({ index, message })) }
  }
}

const keyOf = ({ organizationId, projectId }: Principal, id: string): readonly Element[] => [organizationId, 'bulk.report', projectId, id]
