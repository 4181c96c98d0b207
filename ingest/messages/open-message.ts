/**
 * Opens a message for display. Attachments are numbered in one sequence: the parts of the message, then the files in its winmail.dat
 * containers.
 */
import { parseMime, type Bodies, type RawAttachment } from '../mime/mime-parse.ts'
import { joined } from '../mime/message-parts.ts'
import { isTnef, maxTnefOctets, openTnef } from '../mime/tnef/tnef.ts'

/** An attachment of the message, or a file in a TNEF container. */
export interface OpenedAttachment {
  readonly raw: RawAttachment
  /** Decoded size in octets. */
  readonly size: number
  readonly isFromTnef: boolean
  /** The decoded octets, if the attachment was wanted. */
  readonly octets?: Uint8Array<ArrayBuffer> | undefined
}

export interface OpenedMessage extends Bodies {
  readonly attachments: readonly OpenedAttachment[]
  /** The input ended inside the last attachment. It is not offered, because a truncated file would look complete. */
  readonly isAttachmentCut: boolean
  /** A container could not be opened, or only in part. */
  readonly hasBrokenTnef: boolean
}

/**
 * Opens a message. Files of containers follow all attachments of the message. The body of a container counts only if the message has no
 * body. `cut`: `raw` contains only the beginning of the message. `wanted` selects the attachments whose octets are returned. Throws like
 * `parseMime`.
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

/** Collects the octets of a part. A container's octets are dropped beyond the size limit for opening it. */
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

  /** The octets of the container; empty if it exceeds the size limit. */
  containerOctets(): Buffer {
    return this.#size > maxTnefOctets ? Buffer.alloc(0) : Buffer.from(joined(this.#chunks).buffer)
  }
}
