/** DNS out of a table: what is not in it does not exist. It remembers every question. */
import type { Resolve } from '#ingest/dns/resolve.ts'

/** From `name type`, in lower case but for the type, without the final dot, to records or to the code of an error. */
export type Zone = Readonly<Record<string, readonly unknown[] | string>>

export class StubDns {
  readonly #zone: Map<string, readonly unknown[] | string>
  /** In order, as `name type`. */
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
