/** Texts of SPF records (RFC 7208): recognised, taken apart, extended and joined. No term of a published record is lost. */

/** Whether a TXT record is an SPF record (RFC 7208 §4.5). */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

const version = 'v=spf1'
const all = /^[+~?-]?all$/i
/** The terms at which a receiver may stop without a pass. */
const end = /^(?:[~?-]|\+?all$|redirect=)/i

/** As they are written. */
const writtenTerms = (record: string): string[] => record.trim().split(/ +/).slice(1)

/** The terms of one record in lower case. */
export const termsOf = (record: string): string[] => writtenTerms(record.toLowerCase())

/** Adds mechanisms before the first term that could refuse what they allow. */
export function withTerms(record: string, added: readonly string[]): string {
  const terms = writtenTerms(record)
  const at = terms.findIndex((term) => end.test(term))
  return [version, ...terms.toSpliced(at < 0 ? terms.length : at, 0, ...added)].join(' ')
}

/** Ends the record with `~all` in place of its own `all`. */
export const withoutPassForAll = (record: string): string =>
  [version, ...writtenTerms(record).filter((term) => !all.test(term)), '~all'].join(' ')

/** One record with the terms of several, each once: records that they redirect to are included, and the most lenient `all` ends it. */
export function joinedRecords(records: readonly string[]): string {
  const terms = records.flatMap(writtenTerms).map((term) => term.replace(/^redirect=/i, 'include:'))
  const plain = [...new Set(terms.filter((term) => !all.test(term) && !/^exp=/i.test(term)))]
  const ends = ['?', '~', '-'].flatMap((sign) => (terms.some((term) => all.test(term) && term.startsWith(sign)) ? [`${sign}all`] : []))
  return [version, ...plain, ...ends.slice(0, 1)].join(' ')
}
