/** Header fields of a request: read, merged, and without those that a service sets itself or takes as orders. */
import { invalid } from '#core/refusals.ts'
import type { Dialect, DialectMessage, Fields } from '../dialect.ts'

/**
 * Converts names and values to header fields. Throws `validation_failed` for a repeated name. In the error, a `path` that ends with a colon
 * is followed by the name, any other by the index.
 */
export function headerFields(list: readonly (readonly [name: string, value: string])[], path: string): Fields {
  const seen = new Set<string>()
  for (const [i, [name]] of list.entries()) {
    const folded = name.toLowerCase()
    const place = path.endsWith(':') ? path + name.slice(0, 64) : `${path}[${String(i)}]`
    if (seen.has(folded)) throw invalid([{ path: place, message: 'is given twice; send each header field once' }])
    seen.add(folded)
  }
  return Object.fromEntries(list)
}

/** Merges header fields: those of one message replace those of the request with the same name, regardless of case. */
export function headersOver(common: Fields | null | undefined, own: Fields | null | undefined): Fields {
  const replaced = new Set(Object.keys(own ?? {}).map((name) => name.toLowerCase()))
  return { ...Object.fromEntries(Object.entries(common ?? {}).filter(([name]) => !replaced.has(name.toLowerCase()))), ...own }
}

/** The structure of a mail, and its time: whole mail objects bring them, and every service sets its own. */
const structural = /^(?:mime-version|content-.*|date)$/i
const messageIdField = /^message-id$/i
/** RFC 5322 §3.6.4, without comments and quotes. */
const messageIdValue = /^\s*<([\w.!#$%&'*+/=?^`{|}~-]{1,200}@[\w.[\]:-]{1,200})>\s*$/

interface Header {
  readonly headers: Fields | null | undefined
  /** Without brackets, when the service keeps the one that it was given. */
  readonly messageId: string | undefined
  /** Names of fields that were left out, as in the request. */
  readonly left: readonly string[]
}

/** Leaves out what the service does not pass on. Throws `validation_failed` for none of it, as the service takes it too. */
export function headerOf(
  { orderFields, keepsMessageId }: Pick<Dialect, 'orderFields' | 'keepsMessageId'>,
  given: Fields | null | undefined,
  { headers: path = 'headers' }: DialectMessage['names'],
): Header {
  if (!given) return { headers: given, messageId: undefined, left: [] }
  const isOrder = (name: string, value: unknown): boolean =>
    keepsMessageId instanceof RegExp && keepsMessageId.test(name) && /^\s*true\s*$/i.test(String(value))
  const isKept = keepsMessageId === true || Object.entries(given).some(([name, value]) => isOrder(name, value))
  const kept: [string, unknown][] = []
  const left: string[] = []
  let messageId: string | undefined
  for (const [name, value] of Object.entries(given)) {
    const [, own] = (isKept && messageIdField.test(name) && messageIdValue.exec(String(value))) || []
    if (own !== undefined) messageId ??= own
    else if (isOrder(name, value)) continue
    else if (structural.test(name) || messageIdField.test(name) || orderFields?.test(name))
      left.push(`${path}${path.endsWith(':') ? '' : '.'}${name.slice(0, 64)}`)
    else kept.push([name, value])
  }
  return { headers: Object.fromEntries(kept), messageId, left }
}
