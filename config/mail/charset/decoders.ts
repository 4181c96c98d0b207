/** Decoders by charset. For an octet without a meaning, the strict form returns undefined, and the lenient form writes U+FFFD. */
import { isAscii } from 'node:buffer'
import { ascii } from './charset-names.ts'
import { codePages } from './code-pages.ts'
import { chineseOctets, fromUtf7, koreanOctets, singleEscapes } from './stateful.ts'

/** The text if all octets are valid in the charset. */
export function strictly(octets: Buffer, charset: string): string | undefined {
  if (charset === ascii) return isAscii(octets) ? octets.toString('latin1') : undefined
  const text = leniently(octets, charset, true)
  return text === undefined || (!isNative(charset) && text.includes('\ufffd')) ? undefined : text
}

/** The text with U+FFFD for octets that have no meaning. */
export const replacing = (octets: Buffer, charset: string): string => leniently(octets, charset, false) ?? octets.toString('latin1')

const own = new Set(['utf-7', 'utf-32', ...codePages.keys()])
const isNative = (charset: string): boolean => !own.has(charset)

function leniently(octets: Buffer, charset: string, fatal: boolean): string | undefined {
  const page = codePages.get(charset)
  if (page !== undefined) return fromPage(octets, page)
  switch (charset) {
    case 'utf-7':
      return isAscii(octets) ? fromUtf7(octets.toString('latin1')) : undefined
    case 'utf-32':
      return fromUtf32(octets)
    case 'utf-16':
      return natively(octets, utf16Of(octets), fatal)
    case 'iso-2022-jp':
      return natively(changed(octets, singleEscapes), charset, fatal)
    case 'iso-2022-kr':
      return natively(changed(octets, koreanOctets), 'euc-kr', fatal)
    case 'hz-gb-2312':
      return natively(changed(octets, chineseOctets), 'gbk', fatal)
    default:
      return natively(octets, charset, fatal)
  }
}

function natively(octets: Buffer, label: string, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(label, { fatal }).decode(octets)
  } catch {
    return undefined
  }
}

const changed = (octets: Buffer, change: (text: string) => string): Buffer => Buffer.from(change(octets.toString('latin1')), 'latin1')

/** Written as UTF-16, so that the memory does not grow with the number of pieces. */
function fromPage(octets: Buffer, page: string): string {
  const units = Buffer.alloc(octets.length * 2)
  for (const [at, octet] of octets.entries()) units.writeUInt16LE(octet < 0x80 ? octet : page.charCodeAt(octet - 0x80), at * 2)
  return units.toString('utf16le')
}

/** Byte order from the byte order mark; without it, from the half with more zero octets. */
function utf16Of(octets: Buffer): string {
  if (octets[0] === 0xfe && octets[1] === 0xff) return 'utf-16be'
  if (octets[0] === 0xff && octets[1] === 0xfe) return 'utf-16le'
  let balance = 0
  for (let at = 0; at < Math.min(octets.length, 1024); at++) if (octets[at] === 0) balance += at % 2 === 0 ? 1 : -1
  return balance > 0 ? 'utf-16be' : 'utf-16le'
}

function fromUtf32(octets: Buffer): string {
  const isLittle = octets[0] === 0xff || (octets[0] !== 0 && octets[3] === 0)
  const units: string[] = []
  for (let at = 0; at + 4 <= octets.length; at += 4) {
    const code = isLittle ? octets.readUInt32LE(at) : octets.readUInt32BE(at)
    if (at > 0 || code !== 0xfeff) units.push(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code))
  }
  return units.join('').toWellFormed()
}
