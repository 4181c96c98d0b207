/** Form submissions from scripts and browsers: JSON with or without a wrapper, form encoding, or multipart. */
import { captchaKey, definitionLimits, fillTimeKey, honeypotKey, signatureKey } from '#core/forms/definition/definition.ts'
import type { FilePart } from '#core/forms/uploads/uploads.ts'
import { malformed } from '#core/forms/submissions/submit.ts'
import { Refusal } from '#core/refusals.ts'
import type { BodyStream } from './body-stream.ts'
import { parseJsonBody } from './json/json-body.ts'
import { readMultipart } from './multipart.ts'
import { tooLarge } from './request-body.ts'

/** Maximum size of the answers. Spec "Errors", `request_too_large`. */
const maxAnswerBytes = 65_536
const limits = { maxDepth: 8, maxValues: 5000 }
const maxFields = 2000
/** Includes the files, and the boundaries and headers of parts. */
export const maxSubmissionBytes = definitionLimits.files * definitionLimits.fileBytes + 4 * maxAnswerBytes
/** Size limit of the hosted form. Above `maxSubmissionBytes`, the page refuses the submission and shows the typed text again. */
export const maxPageBytes = 4 * maxSubmissionBytes
/** Time limit for uploads over a slow connection, in seconds. */
export const submissionSeconds = 600

export type SubmissionValues = Readonly<Record<string, unknown>>

/** Destination of the files in a submission. */
export interface SubmissionFiles {
  take(part: FilePart): Promise<void>
  refuse(keys: readonly string[]): void
}

/**
 * Files of a page without scripts. The browser sends the typed text only once: if a file is refused, the remaining body is still read, so
 * that the page can show the text again.
 */
export class FilesOfPage implements SubmissionFiles {
  readonly #files: SubmissionFiles
  /** Refusal of the first refused part; later files are not accepted. */
  refusal: Refusal | undefined

  constructor(files: SubmissionFiles) {
    this.#files = files
  }

  async take(part: FilePart): Promise<void> {
    try {
      if (!this.refusal) return await this.#files.take(part)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      this.refusal = error
    }
    const octets = part.octets[Symbol.asyncIterator]()
    while ((await octets.next()).done !== true); // discards the content
  }

  refuse(keys: readonly string[]): void {
    this.#files.refuse(keys)
  }
}

export async function readSubmission(body: BodyStream, contentType: string, files: SubmissionFiles): Promise<SubmissionValues> {
  const { bytes, mediaType } = body
  if (mediaType === 'multipart/form-data') return readParts(bytes, contentType, files)
  const whole = body.ready() ?? (await gathered(bytes))
  if (whole.length > maxAnswerBytes) throw tooLong()
  return unwrapped(mediaType === 'application/json' ? jsonOf(whole) : fieldsOf(new URLSearchParams(whole.toString('utf8'))))
}

/** Stops reading at the size limit. */
async function gathered(bytes: BodyStream['bytes']): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.length
    if (size > maxAnswerBytes) throw tooLong()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const tooLong = (): Refusal => tooLarge(maxAnswerBytes, 'the fields of this one are larger')

/** Reads a part `data` with the answers as JSON, or one part per answer, and files. */
async function readParts(bytes: BodyStream['bytes'], contentType: string, files: SubmissionFiles): Promise<SubmissionValues> {
  const bounds = {
    ...{ fields: maxFields, fieldBytes: maxAnswerBytes, alwaysFields: new Set(['data']) },
    ...{ files: definitionLimits.files, fileBytes: definitionLimits.fileBytes },
  }
  const entries = await readMultipart(bytes, contentType, bounds, {
    file: ({ key, name, octets }) => files.take({ key, name, octets }),
    filesBeyond: (keys) => files.refuse(keys),
    tooLong: () => {
      if (!(files instanceof FilesOfPage)) throw tooLong()
      files.refusal ??= tooLong()
    },
    broken: () => {
      throw malformed({}, { reason: 'The multipart body is invalid.' })
    },
  })
  const { data, ...fields } = fieldsOf(entries)
  return typeof data === 'string' ? { ...fields, ...unwrapped(jsonOf(Buffer.from(data))) } : fields
}

/** Collects repeated keys in lists. */
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

/** Returns the answers with the reserved fields of submissions, with or without the wrapper `data`. */
function unwrapped(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { data } = body
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return body
  const own = [fillTimeKey, honeypotKey, captchaKey, signatureKey].flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]]))
  return { ...data, ...Object.fromEntries(own) }
}
