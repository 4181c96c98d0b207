/** Corrects mailparser's interpretation of a part's header: type, encoding, and whether the part is a file. */
import type { Transform } from 'node:stream'
import { addressList } from '../address-list.ts'
import { decodeEncodedWords } from '../encoded-words.ts'
import { firstValue, headerFields } from '../header-fields.ts'
import { Base64Decoder, QuotedPrintableDecoder, UuDecoder, type BrokenNote } from './octet-decoders.ts'
import { parametersOf, parameterText } from './parameters.ts'
import type { PartField, PartNode } from './part-node.ts'

/** Called for an unknown transfer encoding, and for characters that are invalid in a part's encoding, possibly many times. */
export type EncodingNote = (fault: 'unknown_transfer_encoding' | 'broken_transfer_encoding', encoding: string) => void

/** The parts of one message, in order. */
export class PartHeads {
  readonly #parents = new Set<PartNode>()
  readonly #note: EncodingNote
  #leaves = 0

  constructor(note: EncodingNote) {
    this.#note = note
  }

  /** Called for each part before mailparser processes it. True if the part is a text file to be displayed inline. */
  mend(node: PartNode): boolean {
    applyType(node)
    applyDigestDefault(node)
    applyFilename(node)
    keepShownFields(node)
    const declared = node.encoding
    if (!applyEncoding(node, this.#note) && declared !== false && node.multipart === false)
      this.#note('unknown_transfer_encoding', declared)
    if (node.multipart !== false) return false
    const isFile = this.#leaves > 0 && this.#isTextFile(node)
    this.#leaves++
    if (node.parentNode !== false) this.#parents.add(node.parentNode)
    if (isFile) node.disposition = 'attachment'
    return isFile
  }

  /** A text with a name is a file, unless it is the message text or an alternative of it. */
  #isTextFile({ contentType, disposition, filename, parentNode }: PartNode): boolean {
    if (filename === false || (contentType !== 'text/plain' && contentType !== 'text/html')) return false
    if (disposition !== false && disposition !== 'inline') return false
    if (parentNode === false || parentNode.multipart === 'alternative') return false
    return parentNode.multipart !== 'related' || this.#parents.has(parentNode)
  }
}

const discreteTypes = /^(?:application|audio|font|image|message|model|multipart|video)$/

/** Comments have no meaning, and a malformed type means text (RFC 2045 §5.1, §5.2). A lone top-level type other than text stays. */
function applyType(node: PartNode): void {
  if (node.contentType === false) return
  const type = node.contentType.replaceAll(/\([^()]*\)/g, '').trim()
  node.contentType = type.includes('/') || discreteTypes.test(type) ? type : 'text/plain'
  if (node.multipart !== false) node.multipart = node.multipart.replaceAll(/\([^()]*\)/g, '').trim()
}

/** A part of a digest without a type is a message (RFC 2046 §5.1.5). */
function applyDigestDefault(node: PartNode): void {
  const isInDigest = node.parentNode !== false && node.parentNode.multipart === 'digest'
  if (isInDigest && node.contentType === 'text/plain' && node.headers.getFirst('content-type') === '') node.contentType = 'message/rfc822'
}

/**
 * The file name of Content-Disposition wins over that of Content-Type. If both are missing, mailparser's result stays, since it reads more
 * forms.
 */
function applyFilename(node: PartNode): void {
  if (node.filename === false) return
  const fields = headerFields(Buffer.concat(node._headersLines))
  const named = (field: string, parameter: string): string => parameterText(parametersOf(firstValue(fields, field) ?? ''), parameter)
  node.filename = named('content-disposition', 'filename') || named('content-type', 'name') || node.filename
}

/**
 * mailparser parses all fields and displays some of an embedded message. Other parts need only their content fields. A date that it cannot
 * parse would be displayed as the current time.
 */
function keepShownFields({ parentNode, headers, _headersLines }: PartNode): void {
  const isMessage = parentNode !== false && parentNode.messageNode === true
  const kept = headers.lines.filter(({ key }) => key.startsWith('content-') || (key === 'date' && isMessage))
  headers.lines = isMessage ? [...kept, ...shownFields(Buffer.concat(_headersLines))] : kept
  if (headers.get('date').length > 1 || Number.isNaN(Date.parse(headers.getFirst('date')))) headers.remove('date')
}

const addressFields = new Set(['from', 'to', 'cc', 'bcc'])

/** Decodes subject and addresses, and encodes them in a form that mailparser reads correctly. */
function shownFields(header: Buffer): PartField[] {
  return headerFields(header).flatMap(({ name, value }) => {
    const key = name.toLowerCase()
    if (key === 'subject') return [{ key, line: `${name}: ${encodedWord(decodeEncodedWords(value))}` }]
    if (!addressFields.has(key)) return []
    const listed = addressList(value).map((one) => `${encodedWord(one.name)} <${Buffer.from(one.address).toString('latin1')}>`)
    return [{ key, line: `${name}: ${listed.join(', ')}` }]
  })
}

const encodedWord = (text: string): string => (text === '' ? '' : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`)

/** Sets encoding and decoder of a part. False if the encoding is unknown. */
function applyEncoding(node: PartNode, note: EncodingNote): boolean {
  const encoding = transferEncoding(node.encoding === false ? '' : node.encoding)
  node.encoding = encoding ?? 'binary'
  const Decoder = decoders.get(node.encoding)
  if (Decoder) node.getDecoder = () => new Decoder(() => note('broken_transfer_encoding', encoding ?? ''))
  return encoding !== undefined
}

const decoders = new Map<string, new (noteBroken: BrokenNote) => Transform>([
  ['base64', Base64Decoder],
  ['quoted-printable', QuotedPrintableDecoder],
  ['uuencode', UuDecoder],
])

/** Spellings of encodings without punctuation. Names of charsets mean no encoding. */
const spellings = new Map<string, string>([
  ...['', '7bit', '7bits', '7', '8bit', '8bits', '8', 'binary', 'none', 'plain', 'ascii', 'usascii', 'utf8', 'iso88591', 'windows1252'].map(
    (spelling) => [spelling, 'binary'] as const,
  ),
  ...['base64', 'b64', 'mimebase64'].map((spelling) => [spelling, 'base64'] as const),
  ...['quotedprintable', 'quotedprintible', 'quoteprintable', 'qp'].map((spelling) => [spelling, 'quoted-printable'] as const),
  ...['uuencode', 'uuencoded', 'uue', 'uu'].map((spelling) => [spelling, 'uuencode'] as const),
])

/** The encoding that a field value means, or undefined if unknown. */
function transferEncoding(value: string): string | undefined {
  const [name = ''] = value.toLowerCase().split(/[;,(]/)
  return spellings.get(name.replaceAll(/[^a-z0-9]/g, '').replace(/^x(?=.)/, ''))
}
