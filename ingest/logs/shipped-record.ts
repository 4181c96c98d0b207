/** Reads the records of log shippers: the line, and its origin. */
import { objectIn, textIn, textOrNumberIn, type JsonObject } from '../events/json-value.ts'

/** Origin of a line: program, host, and time as written, for `timeOf`. */
export interface Origin {
  readonly program: string | null
  readonly host: string | null
  readonly time: unknown
}

/** A line as its program wrote it. */
export interface ShippedLine extends Origin {
  readonly text: string
}

/** In this order: `log` is an object in Filebeat, and the line in Fluent Bit and Docker. journald and syslog-ng use `MESSAGE`. */
const lineFields = ['message', 'log', 'line', 'msg', 'MESSAGE'] as const
const programFields = ['program', 'programname', 'ident', 'appname', 'syslogtag', 'SYSLOG_IDENTIFIER', 'PROGRAM'] as const
const hostFields = ['host', 'hostname', '_HOSTNAME', 'HOST', 'logsource', 'sysloghost'] as const
const timeFields = ['@timestamp', 'timestamp', 'time', 'date', 'ts'] as const

/** The line in a record; undefined if no field contains one. */
export function lineIn(record: JsonObject): string | undefined {
  for (const name of lineFields) {
    const text = lineText(record[name])
    if (text !== null) return text.trim() // the `msg` of rsyslog begins with a space
  }
  return undefined
}

/** The line's origin according to the record. */
export function originOf(record: JsonObject): Origin {
  const time = timeFields.map((name) => record[name]).find((value) => timeOf(value) !== null)
  return { program: programOf(record), host: hostOf(record), time: time ?? journalTime(record) }
}

/** journald sends a line that is not UTF-8 as an array of octets. */
function lineText(value: unknown): string | null {
  if (!Array.isArray(value)) return textIn(value)
  return value.length > 0 && value.every((octet) => Number.isInteger(octet) && octet >= 0 && octet <= 255)
    ? Buffer.from(value as number[]).toString()
    : null
}

/** The first program name, or a longer form of it: rsyslog cuts `programname` at the slash but keeps the full name in `syslogtag`. */
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

/** Converts text with a zone, or seconds since 1970, to milliseconds since 1970; null for other values, because they are ambiguous. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return value > 1e8 && value < 1e11 ? Math.round(value * 1000) : null
  return typeof value === 'string' ? zonedTime(value) : null
}

/** The time of journald, which counts microseconds, in seconds. */
function journalTime(record: JsonObject): number | null {
  const micros = textOrNumberIn(record['_SOURCE_REALTIME_TIMESTAMP']) ?? textOrNumberIn(record['__REALTIME_TIMESTAMP'])
  return micros !== null && /^\d{15,17}$/.test(micros) ? Number(micros) / 1e6 : null
}

/** Converts an RFC 3339 time with its zone to milliseconds since 1970; null for other text, including times without a zone. */
export function zonedTime(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null
  const at = Date.parse(text.replace(' ', 'T').replace(',', '.'))
  return Number.isNaN(at) ? null : at
}
