/** Decodes the octets of a text part. mailparser pipes the part through this stream instead of its charset decoder. */
import { Transform, type TransformCallback } from 'node:stream'
import { decodeOctets, type CharsetFault } from '#config/mail/charset/decode-octets.ts'
import { unflowed } from './flowed-text.ts'
import type { PartNode } from './part-node.ts'

/** A charset that mailparser does not know, so that it always requests a decoder. */
const anyCharset = 'octets'

interface TextForm {
  readonly charset: string
  readonly isHtml: boolean
  readonly isFlowed: boolean
  /** `DelSp=yes`. */
  readonly deletesBlank: boolean
}

/** Called with the declared charset of a part if its octets are invalid in that charset. */
export type CharsetNote = (fault: CharsetFault, charset: string) => void

/** Removes charset and format from a part. The returned function creates the decoder of that part. */
export function takeText(node: PartNode, note: CharsetNote): () => TextOfPart {
  const form: TextForm = {
    charset: node.charset === false ? '' : node.charset,
    isHtml: node.contentType === 'text/html',
    isFlowed: node.flowed && node.contentType === 'text/plain',
    deletesBlank: node.delSp,
  }
  node.charset = anyCharset
  node.flowed = false
  return () => new TextOfPart(form, note)
}

/** Collects the octets of a part, limited by `parseMime`, and outputs UTF-8. */
export class TextOfPart extends Transform {
  readonly #form: TextForm
  readonly #note: CharsetNote
  readonly #chunks: Buffer[] = []

  constructor(form: TextForm, note: CharsetNote) {
    super()
    this.#form = form
    this.#note = note
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#chunks.push(chunk)
    done()
  }

  override _flush(done: TransformCallback): void {
    const { charset, isHtml, isFlowed, deletesBlank } = this.#form
    const { text, fault } = decodeOctets(Buffer.concat(this.#chunks.splice(0)), charset, isHtml)
    if (fault) this.#note(fault, charset)
    done(null, Buffer.from(isFlowed ? unflowed(text, deletesBlank) : text))
  }
}
