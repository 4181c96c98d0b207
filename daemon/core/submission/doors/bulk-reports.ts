/** Stores the result of a request with many messages, so that the caller can fetch it later. */
import { Change, decode, encode } from '#store/change.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'

export interface BulkReport {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Trace ids of the accepted messages. */
  readonly accepted: readonly string[]
  /** Reason of each refusal, with the position of the message in the request. */
  readonly refused: readonly { readonly index: number; readonly message: string }[]
}

const keptMs = 3 * 86_400_000
const maxMessage = 500

export class BulkReports {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Stores the report for three days under the id of the first accepted message. Stores nothing if no message was accepted. */
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
    if (!entry) throw new Refusal('not_found', 'No request with several messages has this id. Results are available for three days.')
    const [at, accepted, refused] = decode<[number, string[], [number, string][]]>(entry.value)
    return { at, accepted, refused: refused.map(([index, message]) => ({ index, message })) }
  }
}

const keyOf = ({ organizationId, projectId }: Principal, id: string): readonly Element[] => [organizationId, 'bulk.report', projectId, id]
