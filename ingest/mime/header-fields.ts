/** Parses the header block of a message into its fields, in order (RFC 5322 §2.2), and tolerates the faults of real mail. */
import { isUtf8 } from 'node:buffer'
import { fieldText, headerCharset } from '#config/mail/charset/header-text.ts'

const maxBlock = 1024 * 1024
const maxFields = 1000
const maxValue = 64 * 1024
const maxName = 998
const fieldName = /^[!-9;-~]+$/
/** The separator line of an mbox file. */
const isMboxLine = /^>?From /

/** One header field: the name as written, and the value unfolded but not decoded. */
export interface HeaderField {
  readonly name: string
  readonly value: string
  /** The octets are not UTF-8, so another charset was used. */
  readonly isGuessed?: true
}

/**
 * Returns the fields of the first header block: at most 1,000 fields, 64 KiB a value, 1 MiB in all. Lines that are not header fields are
 * skipped. Octets above 127 are decoded as UTF-8 (RFC 6532), else in the charset of Content-Type, else as windows-1252.
 */
export const headerFields = (raw: Uint8Array): HeaderField[] => readHeader(raw).fields

export interface Header {
  readonly fields: HeaderField[]
  /** Number of fields and lines that are cut or skipped, without lines after the last field. */
  readonly leftOut: number
}

/** Returns the fields like `headerFields`, with the number of omitted ones. */
export function readHeader(raw: Uint8Array): Header {
  const fields: HeaderField[] = []
  let open: { name: string; pieces: string[]; size: number } | undefined
  let [leftOut, strayLines] = [0, 0]
  const close = (): void => {
    if (!open) return
    fields.push({ name: open.name, value: open.pieces.join('') })
    if (open.size > maxValue) leftOut++
    open = undefined
  }
  for (const line of headerLines(raw)) {
    if (line.startsWith(' ') || line.startsWith('\t')) {
      if (!open) continue
      if (open.size < maxValue) open.pieces.push(line.slice(0, maxValue - open.size))
      open.size += line.length
      continue
    }
    close()
    const colon = line.slice(0, maxName).indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trimEnd()
    if (!fieldName.test(name)) {
      if (!isMboxLine.test(line)) strayLines++
      continue
    }
    leftOut += strayLines
    strayLines = 0
    if (fields.length === maxFields) leftOut++
    else open = { name, pieces: [line.slice(colon + 1, colon + 1 + maxValue)], size: line.length - colon - 1 }
  }
  close()
  const charset = headerCharset(firstValue(fields, 'content-type') ?? '')
  return { fields: fields.map(({ name, value }) => decoded(name, Buffer.from(value, 'latin1'), charset)), leftOut }
}

const decoded = (name: string, octets: Buffer, charset: string): HeaderField => ({
  name,
  value: fieldText(octets, charset).trim(),
  ...(!isUtf8(octets) && { isGuessed: true }),
})

/** The value of the first field with that name, or undefined. */
export function firstValue(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name.toLowerCase() === name)?.value
}

/** Yields the lines up to the empty line, with one character for each octet. */
function* headerLines(raw: Uint8Array): Generator<string> {
  const block = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, maxBlock))
  let start = 0
  while (start < block.length) {
    const feed = block.indexOf(0x0a, start)
    const next = feed < 0 ? block.length : feed
    const end = next > start && block[next - 1] === 0x0d ? next - 1 : next
    if (end === start) return
    yield block.toString('latin1', start, end)
    start = next + 1
  }
}
