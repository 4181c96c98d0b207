/** Writes winmail.dat containers (MS-OXTNEF) like Outlook, and invalid ones. */

const u16 = (value: number): Buffer => Buffer.from([value & 255, value >> 8])
const u32 = (value: number): Buffer => {
  const octets = Buffer.alloc(4)
  octets.writeUInt32LE(value)
  return octets
}
const padded = (octets: Buffer): Buffer => Buffer.concat([octets, Buffer.alloc((4 - (octets.length % 4)) % 4)])

/** A property with its number and type. The value is octets for types of variable length, else a 32-bit number. */
export type Property = readonly [id: number, type: number, value: Buffer | number]

export const text = (id: number, value: string): Property => [id, 0x1f, Buffer.from(`${value}\0`, 'utf16le')]
export const binary = (id: number, value: Buffer): Property => [id, 0x102, value]
/** An embedded message follows the class ID of its interface. */
export const embedded = (container: Buffer): Property => [0x3701, 0x0d, Buffer.concat([Buffer.alloc(16, 7), container])]

const propertyOf = ([id, type, value]: Property): Buffer => {
  const name = id < 0x8000 ? [] : [Buffer.alloc(16, 1), u32(1), u32(6), padded(Buffer.from('abc', 'utf16le'))]
  const octets = typeof value === 'number' ? [u32(value)] : [u32(1), u32(value.length), padded(value)]
  return Buffer.concat([u16(type), u16(id), ...name, ...octets])
}

export const properties = (...list: readonly Property[]): Buffer => Buffer.concat([u32(list.length), ...list.map(propertyOf)])

export const attribute = (level: number, id: number, data: Buffer): Buffer => {
  const sum = data.reduce((total, octet) => (total + octet) & 0xffff, 0)
  return Buffer.concat([Buffer.of(level), u32(id), u32(data.length), data, u16(sum)])
}

export interface WrittenFile {
  readonly title?: Buffer
  readonly data?: Buffer
  readonly properties?: readonly Property[]
}

export const fileOf = ({ title, data, properties: list }: WrittenFile): Buffer =>
  Buffer.concat([
    attribute(2, 0x0006_9002, Buffer.alloc(14)),
    ...(data ? [attribute(2, 0x0006_800f, data)] : []),
    ...(title ? [attribute(2, 0x0001_8010, Buffer.concat([title, Buffer.alloc(1)]))] : []),
    ...(list ? [attribute(2, 0x0006_9005, properties(...list))] : []),
  ])

/** `codepage` applies to names and texts that are not Unicode. */
export const tnef = (message: readonly Property[], files: readonly WrittenFile[], codepage = 1252): Buffer =>
  Buffer.concat([
    u32(0x223e_9f78),
    u16(1),
    attribute(1, 0x0006_9007, Buffer.concat([u32(codepage), u32(0)])),
    attribute(1, 0x0006_9003, properties(...message)),
    ...files.map(fileOf),
  ])

/** Compressed RTF with literals only and the end mark: a reference to the write position. */
export function packedRtf(rtf: string): Buffer {
  const octets = Buffer.from(rtf, 'latin1')
  const runs: Buffer[] = []
  for (let at = 0; at < octets.length; at += 8) {
    const run = octets.subarray(at, at + 8)
    if (run.length === 8) runs.push(Buffer.of(0), run)
    else runs.push(Buffer.of(1 << run.length), run, endMark(octets.length))
  }
  if (octets.length % 8 === 0) runs.push(Buffer.of(1), endMark(octets.length))
  const packed = Buffer.concat(runs)
  return Buffer.concat([u32(packed.length + 12), u32(octets.length), u32(0x75465a4c), u32(0), packed])
}

const endMark = (length: number): Buffer => {
  const place = (207 + length) % 4096
  return Buffer.of(place >> 4, (place & 15) << 4)
}
