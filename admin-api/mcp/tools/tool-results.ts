/** Results and refusals of tools: `structuredContent` for programs, and the same as JSON text for models. */
import { Refusal } from '#core/refusals.ts'
import { CursorInvalid } from '#store/cursor.ts'
import { envelope } from '../../http/rendering.ts'
import type { Tool, ToolResult } from './tool.ts'

/** Largest text of one result, in bytes. */
const maxTextBytes = 131_072

interface TextContent {
  readonly type: 'text'
  readonly text: string
}

/** Link to a resource with more of the result. */
interface LinkContent {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly mimeType: string
}

export interface CallResult {
  readonly content: (TextContent | LinkContent)[]
  readonly structuredContent: Record<string, unknown>
  readonly isError?: true
  readonly _meta?: Record<string, unknown>
}

/** Replaces secrets in the text, which becomes part of a conversation. */
const hidden = 'in structuredContent only; never write it into chat, store it directly in the secret store of its user'

export function goodResult({ binding }: Tool, given: ToolResult, protocolVersion: string): CallResult {
  const { secrets, secretLinks, resource, links } = binding
  const { result, json } = fitted(given)
  const content: CallResult['content'] = [{ type: 'text', text: json }]
  if ((resource ?? links) !== undefined && protocolVersion >= linksVersion) content.push(...linksOf(binding, result))
  const whole: CallResult = { content, structuredContent: result }
  return secrets || secretLinks ? withoutSecrets(binding, whole) : whole
}

/** Names the secrets in `_meta`, and replaces secrets that are shown once in the text. */
function withoutSecrets({ secrets = [], secretLinks = [] }: Tool['binding'], { content, structuredContent }: CallResult): CallResult {
  const isThere = (name: string): boolean => typeof structuredContent[name] === 'string'
  const shown = secrets.filter(isThere)
  const named = [...shown, ...secretLinks.filter(isThere)]
  if (named.length === 0) return { content, structuredContent }
  const _meta = { 'service/secret_fields': named }
  if (shown.length === 0) return { content, structuredContent, _meta }
  const text = JSON.stringify({ ...structuredContent, ...Object.fromEntries(shown.map((name) => [name, hidden])) })
  return { content: [{ type: 'text', text }, ...content.slice(1)], structuredContent, _meta }
}

/** First revision whose clients support links. */
const linksVersion = '2025-06-18'

function linksOf({ resource, links }: Tool['binding'], result: ToolResult): LinkContent[] {
  const files = links === undefined ? [] : (result[links] as readonly string[])
  if (files.length > 0)
    return files.map((uri, i) => ({ type: 'resource_link', uri, name: `attachment ${i + 1}`, mimeType: 'application/octet-stream' }))
  const [, before, field = ''] = /^(.*)\{(\w+)\}$/.exec(resource ?? '') ?? []
  const value = result[field]
  return typeof value === 'string' ? [{ type: 'resource_link', uri: `${before}${value}`, name: value, mimeType: 'application/json' }] : []
}

/** Returns the error envelope. Spec "Errors". */
export function errorResult(refusal: Refusal): CallResult {
  const text = envelope(refusal)
  return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) as Record<string, unknown>, isError: true }
}

/** Returns the refusal for an error; undefined for a defect. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  return error instanceof CursorInvalid
    ? new Refusal('not_found', 'The position in the list is no longer valid. List again from the beginning.')
    : undefined
}

/** Limits a result in size. A list loses entries from its end and sets `has_more`; any other result that is too long is refused. */
export const bounded = (result: ToolResult): ToolResult => fitted(result).result

interface Fitted {
  readonly result: ToolResult
  readonly json: string
}

function fitted(result: ToolResult): Fitted {
  const json = JSON.stringify(result)
  if (json.length * mostBytesOfUnit <= maxTextBytes || Buffer.byteLength(json) <= maxTextBytes) return { result, json }
  const { data } = result
  if (!Array.isArray(data)) throw tooLong()
  let [kept, size] = [0, sizeOf({ ...result, data: [], has_more: true })]
  for (const entry of data) {
    size += sizeOf(entry) + 1
    if (size > maxTextBytes) break
    kept++
  }
  if (kept === 0) throw tooLong()
  const shortened = { ...result, data: data.slice(0, kept), has_more: true }
  return { result: shortened, json: JSON.stringify(shortened) }
}

/** Largest UTF-8 size of one UTF-16 unit. */
const mostBytesOfUnit = 3
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const tooLong = (): Refusal =>
  new Refusal('request_too_large', `The result exceeds ${maxTextBytes} bytes of text. Request less, or use the REST API.`, {
    nextAction: 'ask_for_less',
  })
