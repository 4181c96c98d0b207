/** Texts of SPF records (RFC 7208): recognizes, splits, extends and joins them without losing a term. */

/** Returns whether a TXT record is an SPF record (RFC 7208 §4.5). */
export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

const version = 'v=spf1'
const all = /^[+~?-]?all$/i
/** Terms that can end the evaluation without a pass. */
const end = /^(?:[~?-]|\+?all$|redirect=)/i

/** Terms in their original spelling. */
const writtenTerms = (record: string): string[] => record.trim().split(/ +/).slice(1)

/** Returns the terms of a record in lower case. */
export const termsOf = (record: string): string[] => writtenTerms(record.toLowerCase())

/** Inserts mechanisms before the first term that could refuse them. */
export function withTerms(record: string, added: readonly string[]): string {
  const terms = writtenTerms(record)
  const at = terms.findIndex((term) => end.test(term))
  return [version, ...terms.toSpliced(at < 0 ? terms.length : at, 0, ...added)].join(' ')
}

/** Replaces `all` at the end of a record by `~all`. */
export const withoutPassForAll = (record: string): string =>
  [version, ...writtenTerms(record).filter((term) => !all.test(term)), '~all'].join(' ')

/** Joins several records without duplicate terms. Redirects become includes, and the most lenient `all` ends the record. */
export function joinedRecords(records: readonly string[]): string {
  const terms = records.flatMap(writtenTerms).map((term) => term.replace(/^redirect=/i, 'include:'))
  const plain = [...new Set(terms.filter((term) => !all.test(term) && !/^exp=/i.test(term)))]
  const ends = ['?', '~', '-'].flatMap((sign) => (terms.some((term) => all.test(term) && term.startsWith(sign)) ? [`${sign}all`] : []))
  return [version, ...plain, ...ends.slice(0, 1)].join(' ')
}
