/** Decodes the octets of a text part. mailparser pipes the part through it instead of its own charset decoder. */
import { Transform, type TransformCallback } from 'node:stream'
import { decodeOctets } from '../charset/decode-octets.ts'
import type { PartNode } from './part-node.ts'

/** A charset that mailparser does not know, so that it asks for a decoder in all cases. */
const anyCharset = 'octets'

/** Takes over the charset of a part; `decoder()` is for that part alone. */
export function takeText(node: PartNode): () => TextOfPart {
  const declared = node.charset === false ? '' : node.charset
  const isHtml = node.contentType === 'text/html'
  node.charset = anyCharset
  return () => new TextOfPart(declared, isHtml)
}

/** Collects the octets, whose number `parseMime` limits, and answers UTF-8. */
export class TextOfPart extends Transform {
  readonly #declared: string
  readonly #isHtml: boolean
  readonly #chunks: Buffer[] = []

  constructor(declared: string, isHtml: boolean) {
    super()
    this.#declared = declared
    this.#isHtml = isHtml
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#chunks.push(chunk)
    done()
  }

  override _flush(done: TransformCallback): void {
    const { text } = decodeOctets(Buffer.concat(this.#chunks.splice(0)), this.#declared, this.#isHtml)
    done(null, Buffer.from(text))
  }
}
