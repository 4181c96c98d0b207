/**
 * Fast path for the usual call of a reading tool from 2026-07-28 on: one request and one JSON response. The package would build a server
 * and a stream for each. Any other request goes to the package, which implements the whole protocol. Both give the same response.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { CallResult } from './tools/tool-results.ts'

const plainVersion = '2026-07-28'

/** Keys of `_meta`. */
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

/** Returns undefined unless the request is a plain call in every part. */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | undefined {
  if (!isFields(body) || !hasOnly(body, ['jsonrpc', 'id', 'method', 'params'])) return undefined
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isFields(params) || !hasOnly(params, ['name', 'arguments', '_meta']))
    return undefined
  const { name, arguments: given = {}, _meta: meta } = params
  const isRequest = (typeof id === 'string' || Number.isSafeInteger(id)) && typeof name === 'string' && isFields(given)
  return isRequest && isPlainMeta(meta) && arePlain(headers, name) ? { id: id as string | number, name, given } : undefined
}

/** A progress token makes a call not plain. */
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

/** The package checks the settings of a capability, so a capability with settings is not plain. */
const isPlainCapability = (value: unknown): boolean =>
  isFields(value) && Object.values(value).every((setting) => isFields(setting) && Object.keys(setting).length === 0)

/** Checks that the headers match the body and that the tool name needs no encoding. */
const arePlain = (headers: IncomingHttpHeaders, name: string): boolean =>
  headers['content-type'] === 'application/json' &&
  headers['mcp-protocol-version'] === plainVersion &&
  headers['mcp-method'] === 'tools/call' &&
  headers['mcp-name'] === name &&
  /^[a-z_]+$/.test(name)

/** Returns the end of a result in the form that the package writes. */
const endOf = (server: object, { isError, _meta: meta }: Pick<CallResult, 'isError' | '_meta'>): string =>
  `,${JSON.stringify({ ...(isError && { isError }), resultType: 'complete', _meta: { ...meta, [serverKey]: server } }).slice(1)}`

/** Returns a writer for the responses of one server. The server description is the same in each response. */
export function plainAnswers(server: object): (call: PlainCall, result: CallResult) => string {
  const usualEnd = endOf(server, {})
  return ({ id }, result) => {
    const { content, structuredContent, isError, _meta: meta } = result
    const [first] = content
    // without hidden fields, the text is the structured content
    const structured = meta === undefined && first?.type === 'text' ? first.text : JSON.stringify(structuredContent)
    const end = isError || meta ? endOf(server, result) : usualEnd
    return `{"result":{"content":${JSON.stringify(content)},"structuredContent":${structured}${end},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`
  }
}
