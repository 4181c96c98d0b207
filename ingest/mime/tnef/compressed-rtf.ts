/** Decompresses RTF (MS-OXRTFCP), the form of a message body in Outlook. */
import { OctetsReader } from './octets-reader.ts'

const compressed = 0x75465a4c
const stored = 0x414c454d
/** Initial content of the dictionary (MS-OXRTFCP §2.1.2.1). */
const initial = Buffer.from(
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial' +
    'Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx',
  'latin1',
)
const window = 4096

/**
 * Returns at most `maxOctets` octets of RTF, or undefined if the input is not compressed RTF. Truncated input returns the part that it
 * contains.
 */
export function unpackRtf(octets: Buffer, maxOctets: number): Buffer | undefined {
  if (octets.length < 16) return undefined
  const reader = new OctetsReader(octets)
  reader.u32() // the compressed size, which the length of the input already gives
  const size = Math.min(reader.u32(), maxOctets)
  const kind = reader.u32()
  reader.u32() // the CRC: some writers leave it 0
  const rest = octets.subarray(16)
  if (kind === stored) return Buffer.from(rest.subarray(0, size))
  return kind === compressed ? unpacked(rest, size) : undefined
}

/** A reference copies 2 to 17 octets of the window. A reference to the current write position ends the text. */
function unpacked(octets: Buffer, size: number): Buffer {
  const out = Buffer.alloc(Math.min(size, octets.length * 9))
  const dictionary = Buffer.alloc(window)
  initial.copy(dictionary)
  let place = initial.length
  let written = 0
  const write = (octet: number): void => {
    out[written++] = octet
    dictionary[place] = octet
    place = (place + 1) % window
  }
  for (let at = 0; at < octets.length && written < out.length;) {
    const control = octets[at++] ?? 0
    for (let bit = 0; bit < 8 && at < octets.length && written < out.length; bit++) {
      if (((control >> bit) & 1) === 0) {
        write(octets[at++] ?? 0)
        continue
      }
      if (at + 1 >= octets.length) return out.subarray(0, written)
      const reference = octets.readUInt16BE(at)
      at += 2
      const from = reference >> 4
      if (from === place) return out.subarray(0, written)
      const count = Math.min((reference & 15) + 2, out.length - written)
      for (let i = 0; i < count; i++) write(dictionary[(from + i) % window] ?? 0)
    }
  }
  return out.subarray(0, written)
}
