/** The answers to a form, as scripts and browsers send them: JSON with or without a wrapper, or the parts of a form. */
import { captchaKey, fillTimeKey, honeypotKey } from '#core/forms/definition/definition.ts'
import { malformed } from '#core/forms/submissions/submit.ts'
import { Refusal } from '#core/refusals.ts'
import type { BodyStream } from './body-stream.ts'
import { parseJsonBody } from './json-body.ts'

/** Spec "Errors", `request_too_large`. */
export const maxSubmissionBytes = 65_536
const limits = { maxDepth: 8, maxValues: 5000 }

export interface SubmissionBody {
  readonly values: Readonly<Record<string, unknown>>
  /** Keys of the parts that are files. */
  readonly files: readonly string[]
}

export async function readSubmission({ bytes, mediaType }: BodyStream, contentType: string): Promise<SubmissionBody> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  const whole = Buffer.concat(pieces)
  if (mediaType === 'application/json') return { values: unwrapped(jsonOf(whole)), files: [] }
  if (mediaType === 'application/x-www-form-urlencoded')
    return { values: unwrapped(fieldsOf(new URLSearchParams(whole.toString('utf8')))), files: [] }
  return readMultipart(whole, contentType)
}

/** A part named `data` with the answers as JSON, or a part for each of them; and files. */
async function readMultipart(whole: Buffer<ArrayBuffer>, contentType: string): Promise<SubmissionBody> {
  const form = await new Response(whole, { headers: { 'content-type': contentType } }).formData().catch(() => {
    throw malformed({}, { reason: 'The multipart body is broken.' })
  })
  const files: string[] = []
  const texts: [string, string][] = []
  for (const [key, value] of form) {
    if (typeof value === 'string') texts.push([key, value])
    else if (value.size > 0 || value.name !== '') files.push(key)
  }
  const { data, ...fields } = fieldsOf(texts)
  if (typeof data !== 'string') return { values: fields, files }
  return { values: { ...fields, ...unwrapped(jsonOf(Buffer.from(data))) }, files }
}

/** What comes more than once is a list. */
function fieldsOf(entries: Iterable<readonly [string, string]>): Readonly<Record<string, unknown>> {
  const fields = new Map<string, string[]>()
  for (const [key, value] of entries) {
    const values = fields.get(key)
    if (values) values.push(value)
    else fields.set(key, [value])
  }
  return Object.fromEntries([...fields].map(([key, values]) => [key, values.length === 1 ? values[0] : values]))
}

function jsonOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value = parseJsonBody(bytes, limits)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw malformed({}, { reason: error.message })
  }
  throw malformed({}, { reason: 'The body must be an object.' })
}

/** The answers with what submissions use for themselves, whether `data` is around them or not. */
function unwrapped(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { data } = body
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return body
  const own = [fillTimeKey, honeypotKey, captchaKey].flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))
  return { ...data, ...Object.fromEntries(own) }
}
