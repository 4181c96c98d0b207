/** A message taken apart for people: the parts of the message, then the files in its winmail.dat containers, in one numbering. */
import { parseMime, type Bodies, type RawAttachment } from '../mime/mime-parse.ts'
import { joined } from '../mime/message-parts.ts'
import { isTnef, maxTnefOctets, openTnef } from '../mime/tnef/tnef.ts'

/** An attachment of the message, or a file in a TNEF container. */
export interface OpenedAttachment {
  readonly raw: RawAttachment
  /** Decoded octets. */
  readonly size: number
  readonly isFromTnef: boolean
  /** The decoded octets of a wanted attachment. */
  readonly octets?: Uint8Array<ArrayBuffer> | undefined
}

export interface OpenedMessage extends Bodies {
  readonly attachments: readonly OpenedAttachment[]
  /** The input ended inside the last attachment, which is not offered: half an attachment would look like a whole one. */
  readonly isAttachmentCut: boolean
  /** A container could not be opened, or not to its end. */
  readonly hasBrokenTnef: boolean
}

/**
 * Files of containers follow behind all attachments of the message. The body of a container counts if the message has none of its own.
 * `cut`: the octets end before the message does. `wanted`: which attachments keep their octets, by index. Throws what `parseMime` throws.
 */
export async function openMessage(raw: Buffer, cut: boolean, wanted?: number | 'all'): Promise<OpenedMessage> {
  const isWanted = (index: number): boolean => wanted === 'all' || wanted === index
  const parts: Part[] = []
  const bodies = await parseMime(raw, (attachment) => {
    const part = new Part(attachment, isWanted(parts.length))
    parts.push(part)
    return (chunk) => part.add(chunk)
  })
  const isAttachmentCut = cut && bodies.endsInAttachment
  if (isAttachmentCut) parts.pop()
  const attachments: OpenedAttachment[] = parts.map((part) => part.opened())
  let { text, html } = bodies
  let hasBrokenTnef = false
  for (const container of parts.filter(({ isContainer }) => isContainer)) {
    const contents = openTnef(container.containerOctets())
    hasBrokenTnef ||= contents === undefined || contents.isBroken
    if (!contents) continue
    if (text.trim() === '' && html.trim() === '') ({ text, html } = contents)
    for (const { octets, ...file } of contents.files) {
      const kept = isWanted(attachments.length) ? { octets: new Uint8Array(octets) } : {}
      const fields = { ...file, disposition: undefined, related: file.contentId !== undefined }
      attachments.push({ raw: fields, size: octets.length, isFromTnef: true, ...kept })
    }
  }
  return { ...bodies, text, html, attachments, isAttachmentCut, hasBrokenTnef }
}

/** A part of the message while its octets come. Those of a container are kept while they are few enough to be opened. */
class Part {
  readonly isContainer: boolean
  readonly #raw: RawAttachment
  readonly #isWanted: boolean
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(raw: RawAttachment, isWanted: boolean) {
    this.#raw = raw
    this.#isWanted = isWanted
    this.isContainer = isTnef(raw.contentType, raw.filename)
  }

  add(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#isWanted || (this.isContainer && this.#size <= maxTnefOctets)) this.#chunks.push(chunk)
    else this.#chunks.length = 0
  }

  opened(): OpenedAttachment {
    const kept = this.#isWanted ? { octets: joined(this.#chunks) } : {}
    return { raw: this.#raw, size: this.#size, isFromTnef: false, ...kept }
  }

  /** Empty when they are too many. */
  containerOctets(): Buffer {
    return this.#size > maxTnefOctets ? Buffer.alloc(0) : Buffer.from(joined(this.#chunks).buffer)
  }
}
