/** Dates of header fields (RFC 5322 §3.3, §4.3), as mail writes them. */

const maxInput = 200
/** Zones that `Date` knows; any other name says nothing about the zone. */
const zones = new Set(['UT', 'UTC', 'GMT', 'Z', 'EST', 'EDT', 'CST', 'CDT', 'MST', 'MDT', 'PST', 'PDT'])
const endOfTime = /(?<![+-]\d{2})(:\d{2}(?:\.\d{1,9})?(?: ?[AP]M)?) ?([a-z]{1,5})?$/i
const asctime = /^[a-z]{3} [a-z]{3} {1,2}\d{1,2} [\d:]{5,8} \d{4}$/i

/** RFC 3339 in UTC; undefined if the value is no date. A time without a zone, or with an unknown one, is in UTC. */
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
