/**
 * Identifies a file by its octets while they arrive, regardless of its name and declared type. Accepts only complete files of one kind
 * without additional content. Uses small buffers and linear time.
 */
import { Broken, ByteReader } from './byte-reader.ts'
import type { FileKind } from './file-kinds.ts'
import { imageFormats } from './image-formats.ts'

export interface FileFault {
  readonly code: 'file_type_not_allowed' | 'file_damaged'
  readonly message: string
}

export type FileFinding = { readonly kind: FileKind } | { readonly fault: FileFault }

/** Number of octets that browsers examine to detect a type. PDF readers also search the start and the end of a file within it. */
const edgeBytes = 1024
/** Maximum size of the end record and the comment of a ZIP archive. */
const tailBytes = 22 + 65_535

const types = 'PNG, JPEG, GIF, WebP or PDF'
const notTaken: FileFault = { code: 'file_type_not_allowed', message: `Choose a file of the type ${types}.` }
const isAlso = (what: string): FileFault => ({
  code: 'file_type_not_allowed',
  message: `This file is also ${what}. Save it again as ${types}.`,
})
const damaged: FileFault = { code: 'file_damaged', message: 'The file is damaged or incomplete. Save it again, then select it again.' }

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function kindOf(head: Buffer): FileKind | undefined {
  const text = head.toString('latin1', 0, 16)
  if (head.subarray(0, 8).equals(pngSignature)) return 'png'
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (/^GIF8[79]a/.test(text)) return 'gif'
  if (/^RIFF[^]{4}WEBP/.test(text)) return 'webp'
  return /^%PDF-[12]\.\d/.test(text) ? 'pdf' : undefined
}

export class FileCheck {
  #head = Buffer.alloc(0)
  /** The last octets, in their original chunks. */
  #tail: Buffer[] = []
  #tailLength = 0
  #size = 0
  #kind: FileKind | undefined
  #reader: ByteReader | undefined
  #fault: FileFault | undefined

  /** The file is refused regardless of further octets. */
  get isRefused(): boolean {
    return this.#fault !== undefined
  }

  write(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#fault) return
    if (this.#head.length < edgeBytes) this.#head = Buffer.concat([this.#head, chunk.subarray(0, edgeBytes - this.#head.length)])
    this.#keepTail(chunk)
    if (this.#kind === undefined) this.#begin(chunk)
    else this.#read(chunk)
  }

  end(): FileFinding {
    if (this.#kind === undefined && !this.#fault) this.#start()
    const kind = this.#kind
    const fault = this.#fault ?? (kind === undefined ? notTaken : this.#faultOf(kind))
    return fault || kind === undefined ? { fault: fault ?? notTaken } : { kind }
  }

  /** Determines the kind from the first sixteen octets. */
  #begin(chunk: Buffer): void {
    if (this.#size < 16) return
    const before = this.#head.subarray(0, this.#size - chunk.length)
    this.#start()
    if (before.length > 0) this.#read(before)
    this.#read(chunk)
  }

  #start(): void {
    this.#kind = kindOf(this.#head)
    if (this.#kind === undefined) this.#fault = notTaken
    else if (this.#kind !== 'pdf') this.#reader = new ByteReader(imageFormats[this.#kind]())
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader?.write(chunk)
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      this.#fault = damaged
    }
  }

  #keepTail(chunk: Buffer): void {
    const piece = Buffer.from(chunk.length > tailBytes ? chunk.subarray(-tailBytes) : chunk)
    this.#tail.push(piece)
    this.#tailLength += piece.length
    while (this.#tailLength - (this.#tail[0]?.length ?? 0) >= tailBytes) this.#tailLength -= this.#tail.shift()?.length ?? 0
  }

  #faultOf(kind: FileKind): FileFault | undefined {
    const start = this.#head.toString('latin1').toLowerCase()
    const tail = Buffer.concat(this.#tail)
    if (/<(?:script|html|svg|!doctype|\?php|iframe|body)\b/.test(start)) return isAlso('a web page')
    if (kind !== 'pdf' && start.includes('%pdf-')) return isAlso('a PDF')
    if (endsAsArchive(tail)) return isAlso('a ZIP archive')
    if (kind === 'pdf') return tail.subarray(-edgeBytes).includes('%%EOF') ? undefined : damaged
    const { isEnded = false, trailing = 0 } = this.#reader ?? {}
    if (!isEnded) return damaged
    // cameras append videos and images to a JPEG, and some programs append zeros to a GIF
    if (kind === 'jpeg' || trailing === 0) return undefined
    return kind === 'gif' && trailing <= tail.length && tail.subarray(-trailing).every((octet) => octet === 0)
      ? undefined
      : isAlso('another kind of file')
  }
}

/** Whether the octets end with the end record of a ZIP archive (APPNOTE 4.3.16). An archive may have any prefix. */
function endsAsArchive(tail: Buffer): boolean {
  for (let at = tail.lastIndexOf('PK\x05\x06', undefined, 'latin1'); at >= 0; at = tail.lastIndexOf('PK\x05\x06', at - 1, 'latin1')) {
    const isWhole = at + 22 <= tail.length && at + 22 + tail.readUInt16LE(at + 20) <= tail.length
    if (isWhole && isNoDisk(tail.readUInt16LE(at + 4)) && isNoDisk(tail.readUInt16LE(at + 6))) return true
    if (at === 0) break
  }
  return false
}

/** Whether the disk number is valid: 0, or all bits set for ZIP64. */
const isNoDisk = (number: number): boolean => number === 0 || number === 0xffff
