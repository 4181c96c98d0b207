/** The one object that a report is made from. Whoever builds it by hand gets the same report each time. */
import type { InspectSession } from '#core/inspect/report.ts'

/** Asks DNS as `dns.promises.resolve` does; rejects with an error whose `code` is `ENOTFOUND`, `ENODATA`, `ETIMEOUT`, `ESERVFAIL` … */
export type Resolve = (name: string, type: QuestionType) => Promise<readonly unknown[]>

export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'SOA' | 'TLSA' | 'TXT'

/** A DNS list of addresses or domains that send unwanted mail (RFC 5782). */
export interface DnsList {
  readonly zone: string
  readonly kind: 'ip' | 'domain'
  /** Receivers refuse mail for a major list, and mind a minor one. */
  readonly weight: 'major' | 'minor'
  /** Answers that are no listings but errors of the list, such as `127.0.0.1`. */
  readonly ignore: readonly string[]
  /** Why it is not asked at the moment. */
  readonly off?: string
}

export interface InspectInput {
  /** As received, with CRLF, without our own `Received`. */
  readonly raw: Uint8Array
  readonly session: InspectSession
  readonly resolve: Resolve
  /** The text of a domain's MTA-STS policy; rejects where nobody may fetch it. */
  readonly fetchPolicy?: (domain: string) => Promise<string>
  /** A promise while it is still being found out which of them are alive. */
  readonly lists: readonly DnsList[] | Promise<readonly DnsList[]>
  /** Milliseconds since the epoch. */
  readonly now: number
}
