/** The one object that a report is made from. Whoever builds it by hand gets the same report each time. */
import type { InspectSession } from '#core/inspect/report.ts'
import type { DnsList, Resolve } from '../../dns/resolve.ts'

export interface InspectInput {
  /** As received, with CRLF, without our own `Received`. */
  readonly raw: Uint8Array
  readonly session: InspectSession
  readonly resolve: Resolve
  /** The text of a domain's MTA-STS policy; rejects where it may not be fetched. */
  readonly fetchPolicy?: (domain: string) => Promise<string>
  /** A promise while it is still being found out which of them are alive. */
  readonly lists: readonly DnsList[] | Promise<readonly DnsList[]>
  /** Milliseconds since the epoch. */
  readonly now: number
}
