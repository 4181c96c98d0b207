/** Text of raw header fields. Traces and the message reader use the same rule. */
import { isUtf8 } from 'node:buffer'
import { charsetNamed } from './charset-names.ts'
import { decodeOctets } from './decode-octets.ts'
import { isStateful } from './stateful.ts'

/** Octets above 0x7f, and the escape of ISO-2022-JP. */
const unlikeAscii = /[\u001b\u0080-\u00ff]/
/** Decoding a field can take 10 µs; a block of 256 KiB has up to 50,000 fields. */
const maxDecoded = 1000

/** The header block as text, field by field. Line breaks and ASCII stay as they are. */
export function headerText(block: Uint8Array): string {
  const octets = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
  const fields = octets.toString('latin1').split(/\r\n(?![ \t])/)
  const charset = headerCharset(fields.find((field) => /^content-type[ \t]*:/i.test(field)) ?? '')
  let decoded = 0
  const read = (field: string): string =>
    decoded < maxDecoded && unlikeAscii.test(field) && ++decoded ? fieldText(Buffer.from(field, 'latin1'), charset) : field
  return fields.map(read).join('\r\n')
}

/** Reads UTF-8 (RFC 6532), else the given charset, else windows-1252. */
export const fieldText = (octets: Buffer, charset: string): string => decodeOctets(octets, isUtf8(octets) ? '' : charset).text

/** The charset of a Content-Type field. Empty without a charset, and for charsets that header fields cannot use. */
export function headerCharset(contentType: string): string {
  const declared = /;\s{0,20}charset\s{0,20}=[\s"']{0,20}([\w.:-]{1,64})/i.exec(contentType)?.[1] ?? ''
  const charset = charsetNamed(declared) ?? ''
  return isStateful(charset) || /^utf-(?:16|32)/.test(charset) ? '' : charset
}
