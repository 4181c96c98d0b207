/** What log shippers wrap around a line: the line itself, and what they know of where it came from. */
import { objectIn, textIn, wordIn, type JsonObject } from '../events/json-value.ts'

/** Where a line came from: its program and host, and the time as somebody wrote it, for `timeOf`. */
export interface Origin {
  readonly program: string | null
  readonly host: string | null
  readonly time: unknown
}

/** A line as its program wrote it. */
export interface ShippedLine extends Origin {
  readonly text: string
}

/** In this order: `log` of Filebeat is an object, that of Fluent Bit and Docker the line. `MESSAGE` is journald's and syslog-ng's. */
const lineFields = ['message', 'log', 'line', 'msg', 'MESSAGE'] as const
const programFields = ['program', 'programname', 'ident', 'appname', 'syslogtag', 'SYSLOG_IDENTIFIER', 'PROGRAM'] as const
const hostFields = ['host', 'hostname', '_HOSTNAME', 'HOST', 'logsource', 'sysloghost'] as const
const timeFields = ['@timestamp', 'timestamp', 'time', 'date', 'ts'] as const

/** The line in a record; undefined when no field of it holds one. */
export function lineIn(record: JsonObject): string | undefined {
  for (const name of lineFields) {
    const text = lineText(record[name])
    if (text !== null) return text.trim() // the `msg` of rsyslog begins with a blank
  }
  return undefined
}

/** What a record says of the line's origin. */
export function originOf(record: JsonObject): Origin {
  const time = timeFields.map((name) => record[name]).find((value) => timeOf(value) !== null)
  return { program: programOf(record), host: hostOf(record), time: time ?? journalTime(record) }
}

/** journald sends a line that is not UTF-8 as a list of octets. */
function lineText(value: unknown): string | null {
  if (!Array.isArray(value)) return textIn(value)
  return value.length > 0 && value.every((octet) => Number.isInteger(octet) && octet >= 0 && octet <= 255)
    ? Buffer.from(value as number[]).toString()
    : null
}

/** The first name, or a longer form of it: rsyslog cuts `programname` at the slash, and has the whole in `syslogtag`. */
function programOf(record: JsonObject): string | null {
  const given = [
    ...programFields.map((name) => record[name]),
    objectIn(record['process'])?.['name'],
    objectIn(record['syslog'])?.['identifier'],
  ]
  const names = given.flatMap((value) => textIn(value)?.replace(/(?:\[\d*\])?:?$/, '') || [])
  return names.find((name) => name.startsWith(`${names[0]}/`)) ?? names[0] ?? null
}

function hostOf(record: JsonObject): string | null {
  const direct = hostFields.map((name) => textIn(record[name])).find((found) => found)
  const nested = objectIn(record['host'])
  return direct ?? textIn(nested?.['hostname']) ?? textIn(nested?.['name'])
}

/** Milliseconds since 1970, of text with a zone or of seconds since then; null for everything else, which says nothing sure. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return value > 1e8 && value < 1e11 ? Math.round(value * 1000) : null
  return typeof value === 'string' ? zonedTime(value) : null
}

/** The seconds of journald, which counts microseconds. */
function journalTime(record: JsonObject): number | null {
  const micros = wordIn(record['_SOURCE_REALTIME_TIMESTAMP']) ?? wordIn(record['__REALTIME_TIMESTAMP'])
  return micros !== null && /^\d{15,17}$/.test(micros) ? Number(micros) / 1e6 : null
}

/** A time of RFC 3339 with its zone, in milliseconds since 1970; null for others, as a time without a zone is none. */
export function zonedTime(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null
  const at = Date.parse(text.replace(' ', 'T').replace(',', '.'))
  return Number.isNaN(at) ? null : at
}
