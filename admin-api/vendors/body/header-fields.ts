/** Header fields of a request: reads and merges them, and removes fields that the service sets itself or interprets as commands. */
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

/** Merges header fields. Fields of one message replace fields of the request with the same name, regardless of case. */
export function headersOver(common: Fields | null | undefined, own: Fields | null | undefined): Fields {
  const replaced = new Set(Object.keys(own ?? {}).map((name) => name.toLowerCase()))
  return { ...Object.fromEntries(Object.entries(common ?? {}).filter(([name]) => !replaced.has(name.toLowerCase()))), ...own }
}

/** Fields that clients copy from whole mail objects. They are removed, because every service sets MIME structure and date itself. */
const structural = /^(?:mime-version|content-.*|date)$/i
const messageIdField = /^message-id$/i
/** RFC 5322 §3.6.4, without comments and quotes. */
const messageIdValue = /^\s*<([\w.!#$%&'*+/=?^`{|}~-]{1,200}@[\w.[\]:-]{1,200})>\s*$/

interface Header {
  readonly headers: Fields | null | undefined
  /** Without angle brackets, if the service keeps the given Message-ID. */
  readonly messageId: string | undefined
  /** Names of removed fields, as in the request. */
  readonly left: readonly string[]
}

/** Removes fields that the service does not pass on. It does not throw for them, since the service accepts them too. */
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
