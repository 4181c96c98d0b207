/** The input of a report. Equal inputs and DNS answers produce equal reports. */
import type { InspectSession } from '#core/inspect/report.ts'
import type { DnsList, Resolve } from '../../dns/resolve.ts'

export interface InspectInput {
  /** The mail as received, with CRLF, without the `Received` field of this server. */
  readonly raw: Uint8Array
  readonly session: InspectSession
  readonly resolve: Resolve
  /** Fetches the text of a domain's MTA-STS policy. Rejects if fetching is not permitted. */
  readonly fetchPolicy?: (domain: string) => Promise<string>
  /** A promise while the lists are being tested. */
  readonly lists: readonly DnsList[] | Promise<readonly DnsList[]>
  /** Milliseconds since the epoch. */
  readonly now: number
}
