/** Types for DNS queries: a resolver, and DNS lists of addresses and domains that send unwanted mail. */

/** Queries DNS like `dns.promises.resolve`. Rejects with an error whose `code` is `ENOTFOUND`, `ENODATA`, `ETIMEOUT`, `ESERVFAIL` … */
export type Resolve = (name: string, type: QuestionType) => Promise<readonly unknown[]>

export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'PTR' | 'SOA' | 'TLSA' | 'TXT'

/** A DNS list of addresses or domains that send unwanted mail (RFC 5782). */
export interface DnsList {
  readonly zone: string
  readonly kind: 'ip' | 'domain'
  /** Receivers refuse mail because of a major list, and lower its reputation because of a minor list. */
  readonly weight: 'major' | 'minor'
  /** Responses that report an error of the list instead of a listing, such as `127.0.0.1`. */
  readonly ignore: readonly string[]
  /** The reason why the list is not queried now. */
  readonly off?: ListFault
}

/** `silent`: it does not answer. `empty`: its mandatory test entry is missing. `all`: it lists everything. */
export type ListFault = 'silent' | 'empty' | 'all'
