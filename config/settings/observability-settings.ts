/** Settings of the log, and of traces for OpenTelemetry. */
import { fraction, oneOf, optionalWritten, section, written, type TextForm } from './fields.ts'

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Parts of the daemon with separate log levels. */
export const logParts = ['smtp', 'mx', 'mailboxes', 'http', 'graphql', 'agents', 'delivery'] as const
export type LogPart = (typeof logParts)[number]
export type PartLevels = Readonly<Partial<Record<LogPart, LogLevel>>>

const isOneOf = <Word extends string>(words: readonly Word[], text: string | undefined): text is Word => words.some((word) => word === text)

const partLevels: TextForm<PartLevels> = {
  parse(text) {
    const pairs = text
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '')
      .map((pair) => pair.split('=').map((word) => word.trim()))
    const known = pairs.every(([part, level, ...rest]) => isOneOf(logParts, part) && isOneOf(logLevels, level) && rest.length === 0)
    return known ? (Object.fromEntries(pairs) as PartLevels) : undefined
  },
  format: (levels) =>
    Object.entries(levels)
      .map(([part, level]) => `${part}=${level}`)
      .join(','),
}

export const log = {
  logLevel: oneOf(
    'Minimum level of log lines. SIGUSR2 sets it to debug for all parts, and the next SIGUSR2 restores it.',
    logLevels,
    'info',
  ),
  logLevels: written(
    {
      description: 'Levels of parts that differ from logLevel.',
      limit: `a list such as delivery=debug,http=warn, of the parts ${logParts.join(', ')} and the levels of logLevel`,
    },
    partLevels,
    '',
  ),
  logFormat: oneOf(
    'Format of log lines. json: one object on each line. pretty: text for a terminal. auto: pretty on a terminal, and json elsewhere.',
    ['auto', 'json', 'pretty'],
    'auto',
  ),
}

/** http or https, without user name, query and fragment. The path of the protocol is appended to a path. */
const collector: TextForm<string> = {
  parse(text) {
    const url = URL.parse(text)
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash
    return isPlain ? url.href.replace(/\/$/, '') : undefined
  },
  format: (text) => text,
}

/** Header fields (RFC 9110 §5.1, §5.5), in the form of `OTEL_EXPORTER_OTLP_HEADERS`. */
const headers: TextForm<Readonly<Record<string, string>>> = {
  parse(text) {
    const pairs = text
      .split(',')
      .map((pair) => pair.trim())
      .filter((pair) => pair !== '')
      .map((pair) => /^([\w!#$%&'*+.^`|~-]+)=([\x20-\x7e]+)$/.exec(pair))
    if (pairs.includes(null)) return undefined
    return Object.fromEntries(pairs.map((pair) => [pair?.[1]?.toLowerCase() ?? '', decoded(pair?.[2] ?? '')]))
  },
  format: (fields) =>
    Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join(','),
}

/** Values may be percent-encoded. */
function decoded(text: string): string {
  try {
    const value = decodeURIComponent(text.trim())
    return /^[\x20-\x7e]*$/.test(value) ? value : text.trim()
  } catch {
    return text.trim()
  }
}

export const otlp = section({
  endpoint: optionalWritten(
    {
      description:
        'Collector for traces by OTLP over HTTP (JSON), at /v1/traces below this address. By default OTEL_EXPORTER_OTLP_ENDPOINT; without both, Postern creates no traces.',
      limit: 'an http or https address, such as http://127.0.0.1:4318',
    },
    collector,
  ),
  headers: optionalWritten(
    {
      description: 'Header fields of the requests to the collector, such as a key. By default OTEL_EXPORTER_OTLP_HEADERS.',
      limit: 'a list such as api-key=…,x-team=mail',
      secret: true,
    },
    headers,
  ),
  sampleRatio: fraction('Share of messages with traces, from 0 to 1.', 0, 1, 1),
  serviceName: written(
    {
      description: 'Name of the service in its traces. By default OTEL_SERVICE_NAME, or postern.',
      limit: '1 to 255 visible ASCII characters',
    },
    { parse: (text) => (/^[\x21-\x7e]{1,255}$/.test(text) ? text : undefined), format: (text) => text },
    'postern',
  ),
})
