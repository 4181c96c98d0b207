/**
 * The usual read of an agent in the era from 2026-07-28 on: one request, one answer in JSON, nothing in between. The package builds a
 * server and a stream for each. Whatever is not plainly such a call in every point goes through the package, which knows all of the
 * protocol; both give the same answer.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { CallResult } from './tools/tool-results.ts'

const plainVersion = '2026-07-28'

/** Of `_meta`. */
const versionKey = 'io.modelcontextprotocol/protocolVersion'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const serverKey = 'io.modelcontextprotocol/serverInfo'
const metaKeys: ReadonlySet<string> = new Set([versionKey, capabilitiesKey, 'io.modelcontextprotocol/clientInfo'])

type Fields = Readonly<Record<string, unknown>>

export interface PlainCall {
  readonly id: string | number
  readonly name: string
  readonly given: Fields
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

const hasOnly = (value: Fields, names: readonly string[]): boolean => Object.keys(value).every((name) => names.includes(name))

/** Undefined for all that is not plainly a call. */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | undefined {
  if (!isFields(body) || !hasOnly(body, ['jsonrpc', 'id', 'method', 'params'])) return undefined
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isFields(params) || !hasOnly(params, ['name', 'arguments', '_meta']))
    return undefined
  const { name, arguments: given = {}, _meta: meta } = params
  const isRequest = (typeof id === 'string' || Number.isSafeInteger(id)) && typeof name === 'string' && isFields(given)
  return isRequest && isPlainMeta(meta) && arePlain(headers, name) ? { id: id as string | number, name, given } : undefined
}

/** Without a token for progress. */
function isPlainMeta(meta: unknown): boolean {
  if (!isFields(meta) || meta[versionKey] !== plainVersion) return false
  const { [capabilitiesKey]: capabilities, 'io.modelcontextprotocol/clientInfo': info } = meta
  const isKnown = Object.keys(meta).every((key) => metaKeys.has(key)) && (info === undefined || isPlainClient(info))
  return isKnown && isFields(capabilities) && Object.values(capabilities).every(isPlainCapability)
}

const isPlainClient = (info: unknown): boolean =>
  isFields(info) &&
  'name' in info &&
  'version' in info &&
  !('icons' in info) &&
  Object.values(info).every((value) => typeof value === 'string')

/** What is inside of the settings of a capability is the package's to check. */
const isPlainCapability = (value: unknown): boolean =>
  isFields(value) && Object.values(value).every((setting) => isFields(setting) && Object.keys(setting).length === 0)

/** The headers say what the body says, in letters that need no encoding. */
const arePlain = (headers: IncomingHttpHeaders, name: string): boolean =>
  headers['content-type'] === 'application/json' &&
  headers['mcp-protocol-version'] === plainVersion &&
  headers['mcp-method'] === 'tools/call' &&
  headers['mcp-name'] === name &&
  /^[a-z_]+$/.test(name)

/** The end of a result, as the package writes it. */
const endOf = (server: object, { isError, _meta: meta }: Pick<CallResult, 'isError' | '_meta'>): string =>
  `,${JSON.stringify({ ...(isError && { isError }), resultType: 'complete', _meta: { ...meta, [serverKey]: server } }).slice(1)}`

/** Writes answers of one server, which says the same of itself in each. */
export function plainAnswers(server: object): (call: PlainCall, result: CallResult) => string {
  const usualEnd = endOf(server, {})
  return ({ id }, result) => {
    const { content, structuredContent, isError, _meta: meta } = result
    const [first] = content
    // where nothing is hidden from the text, it is the structured content
    const structured = meta === undefined && first?.type === 'text' ? first.text : JSON.stringify(structuredContent)
    const end = isError || meta ? endOf(server, result) : usualEnd
    return `{"result":{"content":${JSON.stringify(content)},"structuredContent":${structured}${end},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`
  }
}
