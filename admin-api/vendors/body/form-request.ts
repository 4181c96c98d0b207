/** Reads a form request in the way Mailgun accepts it: fields that may repeat, and files. */
import { invalid } from '#core/refusals.ts'
import { maxAttachments } from '#core/submission/compose/attachments.ts'
import type { BodyStream } from '../../bodies/body-stream.ts'
import { readMultipart } from '../../bodies/multipart.ts'
import { tooLarge } from '../../bodies/request-body.ts'
import { plainParts } from './plain-parts.ts'

export interface FormFile {
  readonly name: string
  /** Media type of the part; undefined if it is missing or `application/octet-stream`. */
  readonly type: string | undefined
  /** In base64. */
  readonly content: string
}

export interface FormRequest {
  /** Values by name, in the order of the request. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  /** Files by the name of their part. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>
  /** Size of the body in octets. */
  readonly size: number
}

const maxFields = 5000
/** Limit for URL-encoded forms, which are parsed in memory. Forms with files must be multipart. */
const maxPairBytes = 2_097_152

/** Throws `validation_failed`, `request_too_large` and `overloaded`. */
export async function readFormRequest(body: BodyStream, contentType: string, maxBytes: number): Promise<FormRequest> {
  const isParts = body.mediaType === 'multipart/form-data'
  const whole = body.ready()
  const plain = whole && isParts ? plainParts(whole, contentType, maxFields) : undefined
  if (plain) return { fields: gathered(plain), files: new Map(), size: whole?.length ?? 0 }
  if (!whole) await body.keep()
  let size = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of whole ? [whole] : body.bytes) {
      size += piece.length
      yield piece
    }
  }
  return { ...(isParts ? await readParts(counted(), contentType, maxBytes) : await readPairs(counted())), size }
}

type Parts = Omit<FormRequest, 'size'>

async function readParts(bytes: AsyncIterable<Uint8Array>, contentType: string, maxBytes: number): Promise<Parts> {
  const files = new Map<string, FormFile[]>()
  const limits = { fields: maxFields, fieldBytes: maxBytes, files: maxAttachments, fileBytes: maxBytes, alwaysFields: new Set<string>() }
  const entries = await readMultipart(bytes, contentType, limits, {
    async file({ key, name, type, octets }) {
      const pieces: Buffer[] = []
      for await (const piece of octets) pieces.push(piece)
      const list = files.get(key) ?? []
      list.push({
        name,
        type: type === 'application/octet-stream' || type === '' ? undefined : type,
        content: Buffer.concat(pieces).toString('base64'),
      })
      files.set(key, list)
    },
    filesBeyond() {
      throw invalid([{ path: 'attachment', message: `at most ${String(maxAttachments)} files` }])
    },
    tooLong() {
      throw tooLarge(maxBytes, `this one has more, or more than ${String(maxFields)} fields`)
    },
    broken() {
      throw invalid([{ path: 'body', message: 'is malformed: the parts of multipart/form-data cannot be read' }])
    },
  })
  return { fields: gathered(entries), files }
}

async function readPairs(bytes: AsyncIterable<Uint8Array>): Promise<Parts> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > maxPairBytes) throw tooLarge(maxPairBytes, 'this one has more; send a longer one as multipart/form-data')
    pieces.push(piece)
  }
  const entries = [...new URLSearchParams(Buffer.concat(pieces).toString('utf8'))]
  if (entries.length > maxFields) throw invalid([{ path: 'body', message: `at most ${String(maxFields)} fields` }])
  return { fields: gathered(entries), files: new Map() }
}

function gathered(entries: Iterable<readonly [string, string]>): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>()
  for (const [name, value] of entries) {
    const list = fields.get(name)
    if (list) list.push(value)
    else fields.set(name, [value])
  }
  return fields
}
