/** DNS from a table. Names outside the table do not exist. It records every query. */
import type { Resolve } from '#ingest/dns/resolve.ts'

/** Maps `name type` to records or an error code. The name is in lower case without the final dot. */
export type Zone = Readonly<Record<string, readonly unknown[] | string>>

export class StubDns {
  readonly #zone: Map<string, readonly unknown[] | string>
  /** The queries in order, as `name type`. */
  readonly questions: string[] = []

  constructor(zone: Zone) {
    this.#zone = new Map(Object.entries(zone))
  }

  readonly resolve: Resolve = async (name, type) => {
    const key = `${name} ${type}`
    this.questions.push(key)
    const found = this.#zone.get(key) ?? 'ENOTFOUND'
    if (typeof found === 'string') throw Object.assign(new Error(`${found} ${key}`), { code: found })
    return found
  }
}
