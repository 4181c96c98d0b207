/** What a request for a site is answered with. */
import type { Bytes } from '#store/kv.ts'

export interface SiteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  /** None for HEAD, and where the status has none. */
  readonly body: Bytes | AsyncIterable<Bytes> | undefined
}
