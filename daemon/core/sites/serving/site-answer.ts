/** Response to a request for a site. */
import type { Bytes } from '#store/kv.ts'

export interface SiteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  /** Undefined for HEAD, and for statuses without a body. */
  readonly body: Bytes | AsyncIterable<Bytes> | undefined
}
