/**
 * Structured logs: one JSON object per line, with RFC 3339 times. All values are cleaned first, at any depth: secrets by field name,
 * control characters and length by value. So no peer can forge or flood log lines.
 */
import pino from 'pino'
import { cleanText } from './clean-text.ts'
import { LogOutput, type LineFormat } from './log-stream.ts'
import type { RecentLines } from './recent-lines.ts'

export type Logger = pino.Logger

/** Destination of lines: the error output of the process, or any object with `write`. */
export type LogDestination = 'stderr' | pino.DestinationStream

const secretName = /pass(?:word|wd|phrase)|secret|authori[sz]ation|cookie|token|credentials|^auth$|key$/i
/** Whether the values of a field are kept out of logs. */
export const isSecretName = (name: string): boolean => secretName.test(name)
const maxItems = 50
const maxDepth = 6
const redacted = '[redacted]'
const maxNames = 1000
const maxRememberedName = 64

/** Creates the root logger. `recent` keeps the latest lines. */
export function createLogger(level: string, to: LogDestination, recent?: RecentLines): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: (fields) => cleanse(fields, 0) as Record<string, unknown> },
    serializers: { msg: cleanText, err: (cleansed: unknown) => cleansed },
  }
  const stream = to === 'stderr' ? new LogOutput(2) : to
  const logger = pino(options, recent ? recent.before(stream) : stream)
  const plain = Object.getPrototypeOf(logger) as Logger
  // Fields of a child logger bypass `formatters`, so this property cleans them. Children inherit it.
  logger.child = function <Custom extends string = never>(
    this: Logger,
    fields: pino.Bindings,
    childOptions?: pino.ChildLoggerOptions<Custom>,
  ) {
    return plain.child.call(this, cleanse(fields, 0) as pino.Bindings, childOptions) as pino.Logger<Custom>
  }
  return logger
}

/** Returns a format for terminals instead of JSON, with colors if the terminal supports them. */
export async function prettyLines(stream: { readonly isTTY?: boolean }): Promise<LineFormat> {
  const { default: pretty } = await import('pino-pretty')
  const colorize = stream.isTTY === true && process.env['NO_COLOR'] === undefined
  return pretty.prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
}

function cleanse(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '[deeper]'
  if (value instanceof Error) return cleanseError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString()
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return cleanseList(value, depth)
  if (value instanceof Map || value instanceof Set) return `[${value.size} entries]`
  return cleanseFields(value as Readonly<Record<string, unknown>>, depth)
}

function cleanseFields(fields: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const cleansed: Record<string, unknown> = {}
  for (const name of Object.keys(fields).slice(0, maxItems)) {
    const { shown, isSecret } = fieldName(name)
    const value = fields[name]
    const hidden = isSecret && value !== undefined && value !== null && typeof value !== 'boolean'
    cleansed[shown] = hidden ? redacted : cleanse(value, depth + 1)
  }
  return cleansed
}

interface FieldName {
  readonly shown: string
  readonly isSecret: boolean
}

const fieldNames = new Map<string, FieldName>()

/** Returns the cleaned name and whether it is secret. Cached, because few names are used in all lines. */
function fieldName(name: string): FieldName {
  const known = fieldNames.get(name)
  if (known) return known
  // a field named `__proto__` would set the prototype
  const read = { shown: name === '__proto__' ? '_proto_' : cleanText(name), isSecret: isSecretName(name) }
  if (fieldNames.size >= maxNames) fieldNames.clear()
  if (name.length <= maxRememberedName) fieldNames.set(name, read)
  return read
}

function cleanseList(list: readonly unknown[], depth: number): unknown[] {
  const shown = list.slice(0, maxItems).map((item) => cleanse(item, depth + 1))
  return list.length > maxItems ? [...shown, `… (${list.length} items)`] : shown
}

/**
 * Returns an error's name, message, code, cause and stack locations. Other fields are omitted, because they may hold requests with secrets.
 */
function cleanseError(error: Error, depth: number): Record<string, unknown> {
  const places = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? []
  const fields = {
    type: error.name,
    message: error.message,
    code: 'code' in error ? error.code : undefined,
    stack: places.slice(0, 10).map((line) => line.trim()),
    cause: error.cause,
    errors: error instanceof AggregateError ? error.errors : undefined,
  }
  return cleanseFields(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)), depth)
}
