/** Corrects what mailparser makes of the header of a part: its type, its encoding, and whether it is a file. */
import { QuotedPrintableDecoder, UuDecoder } from './octet-decoders.ts'
import type { PartNode } from './part-node.ts'

/** The parts of one message, in order. */
export class PartHeads {
  readonly #parents = new Set<PartNode>()
  readonly #noteEncoding: (name: string) => void
  #leaves = 0

  /** `noteEncoding` is called with each transfer encoding that is unknown. */
  constructor(noteEncoding: (name: string) => void) {
    this.#noteEncoding = noteEncoding
  }

  /** Called for each part before mailparser acts on it. True if the part is a text file that is to be shown inline. */
  mend(node: PartNode): boolean {
    applyDigestDefault(node)
    const declared = node.encoding
    if (!applyEncoding(node) && declared !== false && node.multipart === false) this.#noteEncoding(declared)
    if (node.multipart !== false) return false
    const isFile = this.#leaves > 0 && this.#isTextFile(node)
    this.#leaves++
    if (node.parentNode !== false) this.#parents.add(node.parentNode)
    if (isFile) node.disposition = 'attachment'
    return isFile
  }

  /** A text with a name is a file, unless it is a form of the text itself. */
  #isTextFile({ contentType, disposition, filename, parentNode }: PartNode): boolean {
    if (filename === false || (contentType !== 'text/plain' && contentType !== 'text/html')) return false
    if (disposition !== false && disposition !== 'inline') return false
    if (parentNode === false || parentNode.multipart === 'alternative') return false
    return parentNode.multipart !== 'related' || this.#parents.has(parentNode)
  }
}

/** RFC 2046 §5.1.5: a part of a digest without a type is a message. */
function applyDigestDefault(node: PartNode): void {
  const isInDigest = node.parentNode !== false && node.parentNode.multipart === 'digest'
  if (isInDigest && node.contentType === 'text/plain' && node.headers.getFirst('content-type') === '') node.contentType = 'message/rfc822'
}

/** False if the encoding is unknown. */
function applyEncoding(node: PartNode): boolean {
  const encoding = transferEncoding(node.encoding === false ? '' : node.encoding)
  node.encoding = encoding ?? 'binary'
  if (encoding === 'quoted-printable') node.getDecoder = () => new QuotedPrintableDecoder()
  if (encoding === 'uuencode') node.getDecoder = () => new UuDecoder()
  return encoding !== undefined
}

/** Spellings of encodings without punctuation. Names of charsets stand for no encoding. */
const spellings = new Map<string, string>([
  ...['', '7bit', '7bits', '7', '8bit', '8bits', '8', 'binary', 'none', 'plain', 'ascii', 'usascii', 'utf8', 'iso88591', 'windows1252'].map(
    (spelling) => [spelling, 'binary'] as const,
  ),
  ...['base64', 'b64', 'mimebase64'].map((spelling) => [spelling, 'base64'] as const),
  ...['quotedprintable', 'quotedprintible', 'quoteprintable', 'qp'].map((spelling) => [spelling, 'quoted-printable'] as const),
  ...['uuencode', 'uuencoded', 'uue', 'uu'].map((spelling) => [spelling, 'uuencode'] as const),
])

/** The encoding that a field value means; undefined if it is unknown. */
function transferEncoding(value: string): string | undefined {
  const [name = ''] = value.toLowerCase().split(/[;,(]/)
  return spellings.get(name.replaceAll(/[^a-z0-9]/g, '').replace(/^x(?=.)/, ''))
}
