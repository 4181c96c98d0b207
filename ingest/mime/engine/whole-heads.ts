/**
 * Corrects headers for mailparser. Lines after the last field of a header become the beginning of the body. A multipart without any
 * delimiter line becomes a text, and only multiparts keep a boundary (RFC 2046 §5.1). All other octets stay unchanged.
 */
import { isOtherType } from './container-head.ts'
import { WholeDelimiters, type HeadPlace } from './whole-delimiters.ts'

export interface WholeHeads {
  readonly octets: Buffer
  readonly faults: readonly HeadFault[]
}

export type HeadFault = 'unended_header' | 'no_delimiter'

/** Ending a header earlier can turn later text into parts, which have headers too. */
const maxRounds = 4

export function withWholeHeads(raw: Buffer): WholeHeads {
  const faults = new Set<HeadFault>()
  let octets = raw
  for (let round = 0; round < maxRounds; round++) {
    const mended = mendedHeads(octets, faults)
    if (mended === octets) break
    octets = mended
  }
  return { octets, faults: [...faults] }
}

/** Returns the input itself if no header needs a correction. */
function mendedHeads(raw: Buffer, faults: Set<HeadFault>): Buffer {
  const pieces: Buffer[] = []
  let written = 0
  for (const head of new WholeDelimiters(raw).heads()) {
    const text = raw.toString('latin1', head.start, head.end)
    const mended = mendedHead(text, head, faults)
    if (mended === text) continue
    pieces.push(raw.subarray(written, head.start), Buffer.from(mended, 'latin1'))
    written = head.end
  }
  return written === 0 ? raw : Buffer.concat([...pieces, raw.subarray(written)])
}

function mendedHead(text: string, { isUndivided }: HeadPlace, faults: Set<HeadFault>): string {
  const end = endOfFields(text)
  const [fields, rest] = [text.slice(0, end), text.slice(end)]
  if (rest.trim() !== '') {
    faults.add('unended_header')
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
    return fields + (fields === '' || fields.endsWith('\n') ? '' : lineEnd) + lineEnd + rest
  }
  if (isUndivided) faults.add('no_delimiter')
  return withOwnType(fields, isUndivided) + rest
}

/** A field name and its colon, but not an address such as `https://`. A mail in an mbox file begins with a line `From `. */
const fieldStart = /^(?:(?![a-z][a-z\d+.-]*:\/\/)[!-9;-~]+[ \t]*:|>?From )/i

/** Offset of the first line that belongs to no field and has no field after it, or of the first delimiter line. */
function endOfFields(text: string): number {
  let end = 0
  let isInField = false
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf('\n', at)
    const next = feed < 0 ? text.length : feed + 1
    const line = text.slice(at, Math.min(next, at + 1000))
    if (line.startsWith('--')) return end
    isInField = /^[ \t]/.test(line) ? isInField : fieldStart.test(line)
    if (isInField) end = next
    at = next
  }
  return end
}

const contentType = /^content-type[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*/im

/** Changes the first Content-Type field, because only that one counts. */
function withOwnType(fields: string, isUndivided: boolean): string {
  return fields.replace(contentType, (field) => {
    if (isUndivided) return withoutBoundary(field.replace(/:[^;]*?(?=;|\r?$)/, ': text/plain'))
    return isOtherType(field.slice(field.indexOf(':') + 1)) ? withoutBoundary(field) : field
  })
}

const withoutBoundary = (field: string): string => field.replaceAll(/(;\s*)(?=boundary[\s*=])/gi, '$1x-')
