/**
 * Whether a message holds files, as it streams in: the fields of each MIME part (RFC 2045 §5, RFC 2183 §2) are looked at, a line
 * at a time, and nothing is decoded or kept. Bounded: so many boundaries, so many octets of a line and of a field. Parts whose
 * delimiter cannot be followed count as files, as no mail program writes such; what lies beyond the octets that are looked at
 * does not, so that a message can be built to hide a file.
 */
import { limitsOf } from '../../plan/limits.ts'

/** Known boundaries; more nesting than that is not looked into. */
const maxBoundaries = 20
const maxBoundaryOctets = 70
/** Octets of a line, and of a field with its folded lines, that are looked at. */
const maxLineOctets = 1000
const maxFieldOctets = 4096

const lf = 0x0a
/** Types that mail itself is made of. */
const ofMail = /^(?:text|multipart|message)\//
/** Signatures over mail, which mail programs send as named attachments (RFC 3156 §5, RFC 8551 §3.5.3). */
const signature = /^application\/(?:pgp-signature|pgp-encrypted|(?:x-)?pkcs7-signature)$/
const named = /;[ \t]*(?:file)?name\*?\d*\*?[ \t]*=/i
const wanted = /^content-(?:type|disposition)[ \t]*:/i

export class FileScan {
  /** A part is a file: an attachment, named, or of a type that no text has. */
  hasFile = false
  /** Of the part at hand. */
  #looksLikeFile = false
  #isSignature = false
  readonly #boundaries = new Set<string>()
  /** Within the fields of the message or of a part. */
  #inFields = true
  #field = ''
  /** The beginning of a line whose end did not come yet. */
  #rest = ''

  /** Reads on; chunks may be cut anywhere. Lines end in CRLF. */
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

  /** A delimiter is known by its beginning (RFC 2046 §5.1.1). */
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

/** For mail of an organization whose plan may have no files; of one that is not known yet, too. */
export const fileScanFor = (organization: Parameters<typeof limitsOf>[0] | undefined): FileScan | undefined =>
  organization && limitsOf(organization).attachments ? undefined : new FileScan()
