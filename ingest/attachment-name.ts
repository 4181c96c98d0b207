/** Makes file names for attachments that are safe to show, to store and to put into a header. */

const octetsMax = 255
const contentTypeShape = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/
// Control characters, line separators, and the marks that reorder text and so can disguise an extension.
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const reserved = /[<>:"|?*]/g
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i

const extensions: ReadonlyMap<string, string> = new Map([
  ['application/json', 'json'],
  ['application/ms-tnef', 'dat'],
  ['application/msword', 'doc'],
  ['application/pdf', 'pdf'],
  ['application/pgp-keys', 'asc'],
  ['application/pgp-signature', 'asc'],
  ['application/pkcs7-mime', 'p7m'],
  ['application/pkcs7-signature', 'p7s'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/xml', 'xml'],
  ['application/zip', 'zip'],
  ['image/bmp', 'bmp'],
  ['image/gif', 'gif'],
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/svg+xml', 'svg'],
  ['image/tiff', 'tif'],
  ['image/webp', 'webp'],
  ['message/delivery-status', 'txt'],
  ['message/feedback-report', 'txt'],
  ['message/rfc822', 'eml'],
  ['text/calendar', 'ics'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/rfc822-headers', 'txt'],
  ['text/vcard', 'vcf'],
  ['text/xml', 'xml'],
])

/** The media type in lower case without parameters; `application/octet-stream` when the message names none that is well-formed. */
export function safeContentType(declared: string | undefined): string {
  const type = (declared ?? '').trim().toLowerCase()
  return contentTypeShape.test(type) ? type : 'application/octet-stream'
}

/**
 * A base name of at most 255 octets: no path, no control or direction characters, nothing a file system reserves.
 * `position` counts from 1 and makes the name when the message gives none that is left after cleaning.
 */
export function safeFilename(declared: string | undefined, contentType: string, position: number): string {
  // Only the tail can matter, and a bound keeps the work small.
  const tail = (declared ?? '').slice(-4096).toWellFormed().normalize('NFC').replace(hidden, '')
  const base = tail.slice(Math.max(tail.lastIndexOf('/'), tail.lastIndexOf('\\')) + 1)
  const cleaned = trimDotsAndBlanks(base.replace(reserved, '_'))
  if (cleaned === '') return `attachment-${position}.${extensions.get(contentType) ?? 'bin'}`
  return shortened(device.test(cleaned) ? `_${cleaned}` : cleaned)
}

/** Leading dots hide a file, trailing dots and blanks vanish on some systems; both are dropped. */
function trimDotsAndBlanks(name: string): string {
  const drops = (char: string | undefined): boolean => char === '.' || char === ' ' || char === '\u00a0'
  let start = 0
  let end = name.length
  while (start < end && drops(name[start])) start += 1
  while (end > start && drops(name[end - 1])) end -= 1
  return name.slice(start, end)
}

/** Cuts the stem, not the extension, at a character boundary. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= octetsMax) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : ''
  const room = octetsMax - Buffer.byteLength(extension)
  let stem = ''
  let size = 0
  for (const char of extension === '' ? name : name.slice(0, dot)) {
    size += Buffer.byteLength(char)
    if (size > room) break
    stem += char
  }
  return stem + extension
}
