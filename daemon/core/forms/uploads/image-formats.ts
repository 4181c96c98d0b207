/** Parsers of image formats. Each parser checks the structure from the first to the last octet and decodes no pixel. */
import { Broken, type Format } from './byte-reader.ts'
import type { FileKind } from './file-kinds.ts'

const ascii = (octets: Buffer, from: number, to: number): string => octets.toString('latin1', from, to)

/** PNG (third edition) §5: chunks, from IHDR to IEND. */
function* png(): Format {
  yield { take: 8 }
  for (let count = 0; ; count++) {
    const head = yield { take: 8 }
    const [length, type] = [head.readUInt32BE(0), ascii(head, 4, 8)]
    if (length > 0x7fffffff || !/^[A-Za-z]{4}$/.test(type)) throw new Broken('it has an invalid chunk type')
    if ((type === 'IHDR') !== (count === 0)) throw new Broken('it does not begin with its header')
    if (type === 'IHDR') {
      if (length !== 13) throw new Broken('its header is broken')
      const header = yield { take: 13 }
      if (header.readUInt32BE(0) === 0 || header.readUInt32BE(4) === 0) throw new Broken('it has no size')
    } else yield { skip: length }
    yield { skip: 4 }
    if (type === 'IEND') return
  }
}

/** GIF89a: blocks, from the logical screen to the trailer. */
function* gif(): Format {
  const head = yield { take: 13 }
  yield* colors(head[10] ?? 0)
  for (;;) {
    const [block] = yield { take: 1 }
    if (block === 0x3b) return
    if (block === 0x21) yield { skip: 1 }
    else if (block === 0x2c) {
      const image = yield { take: 9 }
      yield* colors(image[8] ?? 0)
      yield { skip: 1 }
    } else throw new Broken('it has an invalid block type')
    for (let length = 1; length > 0;) {
      length = (yield { take: 1 })[0] ?? 0
      yield { skip: length }
    }
  }
}

function* colors(flags: number): Format {
  if ((flags & 0x80) !== 0) yield { skip: 3 * 2 ** ((flags & 7) + 1) }
}

/** RIFF with WebP chunks (RFC 9649 §2); the RIFF length must be the length of the file. */
function* webp(): Format {
  const head = yield { take: 12 }
  let left = head.readUInt32LE(4) - 4
  for (let count = 0; left > 0; count++) {
    const chunk = yield { take: 8 }
    const [type, length] = [ascii(chunk, 0, 4), chunk.readUInt32LE(4)]
    if (count === 0 && !['VP8 ', 'VP8L', 'VP8X'].includes(type)) throw new Broken('it begins with no image')
    const padded = length + (length % 2)
    if (8 + length > left) throw new Broken('a chunk is longer than the file')
    yield { skip: Math.min(padded, left - 8) }
    left -= 8 + padded
  }
}

/** Markers without a segment (ITU-T T.81 §B.1.1.3). */
const isAlone = (code: number): boolean => code === 0x01 || (code >= 0xd0 && code <= 0xd7)

/** JPEG (ITU-T T.81 §B.2): segments and scans, from SOI to EOI. */
function* jpeg(): Format {
  yield { take: 2 }
  let hasFrame = false
  for (let marker: number | undefined; ;) {
    if (marker === undefined) {
      const [first, code = 0] = yield { take: 2 }
      if (first !== 0xff) throw new Broken('a segment is missing')
      marker = code
    }
    while (marker === 0xff) marker = (yield { take: 1 })[0] ?? 0
    if (marker === 0xd9) {
      if (!hasFrame) throw new Broken('it has no image')
      return
    }
    const code = marker
    marker = undefined
    if (isAlone(code)) continue
    if (code < 0xc0 || code === 0xd8) throw new Broken('it has an invalid segment type')
    const length = (yield { take: 2 }).readUInt16BE(0)
    if (length < 2) throw new Broken('it has a segment without a length')
    yield { skip: length - 2 }
    if (code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code)) hasFrame = true
    if (code === 0xda) marker = (yield 'marker')[0]
  }
}

export const imageFormats: Readonly<Record<Exclude<FileKind, 'pdf'>, () => Format>> = { png, gif, webp, jpeg }
