/** MAPI properties in TNEF (MS-OXTNEF §2.1.3.4): a list of typed values by property number. */
import { OctetsReader } from './octets-reader.ts'

/** The first value of a property. `kind` is its type (MS-OXCDATA §2.11.1). */
export interface MapiValue {
  readonly kind: number
  readonly octets: Buffer
}

export const mapi = {
  subject: 0x0037,
  body: 0x1000,
  rtf: 0x1009,
  html: 0x1013,
  attachData: 0x3701,
  attachFilename: 0x3704,
  attachLongFilename: 0x3707,
  attachMimeType: 0x370e,
  attachContentId: 0x3712,
  attachLocation: 0x3713,
  displayName: 0x3001,
  internetCodepage: 0x3fde,
} as const

export const unicode = 0x1f
export const embedded = 0x0d
const isMultiple = 0x1000
const firstNamed = 0x8000
/** Types of variable length: objects, strings and binary values. */
const sized: ReadonlySet<number> = new Set([embedded, 0x1e, unicode, 0x102])
/** Size of the other types in octets; shorter values are padded to four. */
const widths: ReadonlyMap<number, number> = new Map([
  ...[0x02, 0x03, 0x04, 0x0a, 0x0b].map((kind) => [kind, 4] as const),
  ...[0x05, 0x06, 0x07, 0x14, 0x40].map((kind) => [kind, 8] as const),
  [0x48, 16],
])
const maxProperties = 10_000
const maxValues = 10_000

export interface MapiProperties {
  readonly values: ReadonlyMap<number, MapiValue>
  /** The list is truncated or contains an unknown type. */
  readonly isBroken: boolean
}

/** Parses properties up to the first error. Never throws. */
export function mapiProperties(octets: Buffer): MapiProperties {
  const values = new Map<number, MapiValue>()
  const reader = new OctetsReader(octets)
  try {
    const count = reader.u32()
    for (let i = 0; i < count; i++) {
      if (i === maxProperties) return { values, isBroken: true }
      const type = reader.u16()
      const id = reader.u16()
      if (id >= firstNamed) skipName(reader)
      const value = valueOf(reader, type)
      if (value === 'unknown') return { values, isBroken: true }
      if (value && id < firstNamed && !values.has(id)) values.set(id, value)
    }
    return { values, isBroken: false }
  } catch {
    return { values, isBroken: true }
  }
}

function skipName(reader: OctetsReader): void {
  reader.take(16)
  const isText = reader.u32() === 1
  if (isText) reader.takePadded(reader.u32())
  else reader.u32()
}

function valueOf(reader: OctetsReader, type: number): MapiValue | 'unknown' | undefined {
  const kind = type & ~isMultiple
  const width = widths.get(kind)
  const isSized = sized.has(kind)
  if (width === undefined && !isSized) return 'unknown'
  const count = isSized || type !== kind ? reader.u32() : 1
  if (count > maxValues) return 'unknown'
  let first: MapiValue | undefined
  for (let i = 0; i < count; i++) {
    const octets = width === undefined ? reader.takePadded(reader.u32()) : reader.takePadded(width)
    first ??= { kind, octets }
  }
  return first
}
