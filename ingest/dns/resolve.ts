/** DNS as readers of mail ask it: one question, and the lists of addresses and domains that send unwanted mail. */

/** Asks DNS as `dns.promises.resolve` does; rejects with an error whose `code` is `ENOTFOUND`, `ENODATA`, `ETIMEOUT`, `ESERVFAIL` … */
export type Resolve = (name: string, type: QuestionType) => Promise<readonly unknown[]>

export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'SOA' | 'TLSA' | 'TXT'

/** A DNS list of addresses or domains that send unwanted mail (RFC 5782). */
export interface DnsList {
  readonly zone: string
  readonly kind: 'ip' | 'domain'
  /** Receivers refuse mail for a major list, and mind a minor one. */
  readonly weight: 'major' | 'minor'
  /** Responses that are no listings but errors of the list, such as `127.0.0.1`. */
  readonly ignore: readonly string[]
  /** Why it is not asked at the moment. */
  readonly off?: ListFault
}

/** `silent`: it did not answer. `empty`: it does not list what every list must. `all`: it lists everything. */
export type ListFault = 'silent' | 'empty' | 'all'
