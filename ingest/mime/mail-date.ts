/** Parses dates of header fields (RFC 5322 §3.3, §4.3) in the forms of real mail. */

const maxInput = 200
/** Zone names that `Date` knows. Other names are ignored. */
const zones = new Set(['UT', 'UTC', 'GMT', 'Z', 'EST', 'EDT', 'CST', 'CDT', 'MST', 'MDT', 'PST', 'PDT'])
const endOfTime = /(?<![+-]\d{2})(:\d{2}(?:\.\d{1,9})?(?: ?[AP]M)?) ?([a-z]{1,5})?$/i
const asctime = /^[a-z]{3} [a-z]{3} {1,2}\d{1,2} [\d:]{5,8} \d{4}$/i

/** Converts a date to RFC 3339 in UTC; undefined if the value is not a date. A time without a known zone counts as UTC. */
export function mailDate(value: string): string | undefined {
  const text = value
    .slice(0, maxInput)
    .replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const date = new Date(asctime.test(text) ? `${text} UTC` : text.replace(endOfTime, withZone))
  const year = date.getUTCFullYear()
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined
}

const withZone = (whole: string, time: string, zone = ''): string => (zones.has(zone.toUpperCase()) ? whole : `${time} UTC`)
