/**
 * Detects files in a message while it is written, for plans without attachments. Reads the fields of each MIME part (RFC 2045 §5, RFC 2183
 * §2) line by line; decodes and stores nothing. The number of boundaries and the length of lines and fields are bounded. A multipart
 * without a readable boundary, or with a boundary beyond the maximum, counts as a file, because no mail program writes such parts. Lines
 * and fields are read up to their bounds, so a crafted message can hide a file.
 */
import { limitsOf } from '../../plan/limits.ts'

/** Maximum number of boundaries in a message; a further multipart counts as a file. */
const maxBoundaries = 20
const maxBoundaryOctets = 70
/** Maximum octets read of a line, and of a field including its folded lines. */
const maxLineOctets = 1000
const maxFieldOctets = 4096

const lf = 0x0a
/** Content types that are not files. */
const ofMail = /^(?:text|multipart|message)\//
/**
 * Parts of signed and encrypted mail. They do not count as files, although mail programs send them as named attachments (RFC 3156 §5, RFC
 * 8551 §3.5.3).
 */
const signature = /^application\/(?:pgp-signature|pgp-encrypted|(?:x-)?pkcs7-signature)$/
const named = /;[ \t]*(?:file)?name\*?\d*\*?[ \t]*=/i
const wanted = /^content-(?:type|disposition)[ \t]*:/i

export class FileScan {
  /** True once a part is an attachment, has a name or has a type that is not text. */
  hasFile = false
  /** The current part is an attachment, has a name or has a type that is not text. */
  #looksLikeFile = false
  #isSignature = false
  readonly #boundaries = new Set<string>()
  /** True within the header fields of the message or of a part. */
  #inFields = true
  #field = ''
  /** Start of a line whose end has not arrived yet. */
  #rest = ''

  /** Reads the next chunk. Lines end in CRLF and may be split between chunks. */
  read(chunk: Uint8Array): void {
    if (this.hasFile) return
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(lf, from)
      const until = end < 0 ? bytes.length : end
      const room = maxLineOctets - this.#rest.length
      if (room > 0) this.#rest += bytes.toString('latin1', from, Math.min(until, from + room))
      if (end < 0) return
      this.#readLine(this.#rest.trimEnd())
      this.#rest = ''
      from = end + 1
    }
  }

  #readLine(line: string): void {
    if (!this.#inFields) {
      if (line.startsWith('--') && this.#beginsPart(line.slice(2))) this.#inFields = true
      return
    }
    if (/^[ \t]/.test(line)) {
      if (this.#field !== '' && this.#field.length < maxFieldOctets) this.#field += line
      return
    }
    this.#readField(this.#field)
    this.#field = wanted.test(line) ? line : ''
    if (line === '') this.#endFields()
  }

  /** A line that begins with `--` and a boundary is a delimiter (RFC 2046 §5.1.1). */
  #beginsPart(text: string): boolean {
    if (this.#boundaries.has(text)) return true
    return [...this.#boundaries].some((boundary) => text.startsWith(boundary) && text !== `${boundary}--`)
  }

  #endFields(): void {
    this.#inFields = false
    if (this.#looksLikeFile && !this.#isSignature) this.hasFile = true
    this.#looksLikeFile = false
    this.#isSignature = false
  }

  #readField(field: string): void {
    if (field === '') return
    const colon = field.indexOf(':')
    const value = field.slice(colon + 1).trim()
    const kind = (value.split(';', 1)[0] ?? '').trim().toLowerCase()
    if (/^content-disposition/i.test(field)) {
      if (kind === 'attachment' || named.test(value)) this.#looksLikeFile = true
      return
    }
    this.#isSignature = signature.test(kind)
    if (kind.startsWith('multipart/')) return this.#follow(value)
    if (kind.includes('/') && (!ofMail.test(kind) || named.test(value))) this.#looksLikeFile = true
  }

  #follow(value: string): void {
    const boundary = /;[ \t]*boundary[ \t]*=[ \t]*(?:"([^"\\]*)"|([^\s;"\\]+)(?=[\s;]|$))/i.exec(value)
    const text = (boundary?.[1] ?? boundary?.[2] ?? '').trimEnd()
    const isClear = text !== '' && text.length <= maxBoundaryOctets
    if (isClear && this.#boundaries.size < maxBoundaries) this.#boundaries.add(text)
    else if (!this.#boundaries.has(text)) this.#looksLikeFile = true
  }
}

/** Returns a scan if the plan of the organization may exclude attachments. An organization that is not loaded yet is scanned too. */
export const fileScanFor = (organization: Parameters<typeof limitsOf>[0] | undefined): FileScan | undefined =>
  organization && limitsOf(organization).attachments ? undefined : new FileScan()
