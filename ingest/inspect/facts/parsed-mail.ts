/** A mail taken apart for the checks: leniently, so that what is wrong with it can be reported and the rest still be read. */
import { addressList, type ListedAddress } from '../../mime/address-list.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { headerFields, type HeaderField } from '../../mime/header-fields.ts'
import { openReportMail, type ReportPart } from '../../report/mail/report-mail.ts'
import { partCharacters, partOctets } from '../../report/mail/part-text.ts'
import { domainOf } from '../../dns/domains.ts'

export interface Attachment {
  readonly filename: string
  readonly type: string
  readonly octets: Buffer
}

export interface Mail {
  readonly raw: Buffer
  /** With its line ends and without the empty line behind it; one character an octet. */
  readonly head: string
  readonly fields: readonly HeaderField[]
  readonly parts: readonly ReportPart[]
  /** Bodies for people; null when the mail has none of the sort. */
  readonly text: string | null
  readonly html: string | null
  /** How many octets the HTML has when it is decoded. */
  readonly htmlOctets: number
  readonly attachments: readonly Attachment[]
  /** Addresses of the From field. */
  readonly from: readonly ListedAddress[]
  /** The domain of the first of them; empty when there is none. */
  readonly fromDomain: string
  /** Decoded. */
  readonly subject: string
}

const maxShown = 1_000_000

export function openMail(octets: Uint8Array): Mail {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const { parts } = openReportMail(raw)
  const fields = headerFields(raw)
  const bodies = parts.filter((part) => !isFile(part))
  const html = bodies.filter(({ type }) => type === 'text/html')
  const from = addressList(valueOf(fields, 'from') ?? '')
  return {
    ...{ raw, fields, parts, head: headOf(raw) },
    text: joined(bodies.filter(({ type }) => type === 'text/plain')),
    html: joined(html),
    htmlOctets: html.reduce((sum, part) => sum + sizeOnTheWire(part), 0),
    attachments: parts.filter(isFile).map((part) => ({ filename: filenameOf(part), type: part.type, octets: partOctets(part, Infinity) })),
    from,
    fromDomain: domainOf(from.find(({ address }) => address !== '')?.address ?? ''),
    subject: decodeEncodedWords(valueOf(fields, 'subject') ?? ''),
  }
}

/** How many octets a part has when its encoding is undone; parts are read with LF for CRLF, but CRLF is what was sent. */
function sizeOnTheWire(part: ReportPart): number {
  const octets = partOctets(part)
  if (/^\s*base64\s*$/i.test(valueOf(part.fields, 'content-transfer-encoding') ?? '')) return octets.length
  return octets.length + (octets.toString('latin1').match(/(?<!\r)\n/g)?.length ?? 0)
}

/** The first value of a field, unfolded. */
export const valueOf = (fields: readonly HeaderField[], name: string): string | undefined =>
  fields.find((field) => field.name.toLowerCase() === name)?.value

export const countOf = (fields: readonly HeaderField[], name: string): number =>
  fields.filter((field) => field.name.toLowerCase() === name).length

function joined(parts: readonly ReportPart[]): string | null {
  return parts.length === 0 ? null : parts.map(partCharacters).join('\n').slice(0, maxShown)
}

function headOf(raw: Buffer): string {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => raw.indexOf(mark)).filter((at) => at >= 0)
  const end = ends.length > 0 ? Math.min(...ends) : raw.length
  return raw.toString('latin1', 0, end)
}

function isFile(part: ReportPart): boolean {
  const disposition = valueOf(part.fields, 'content-disposition') ?? ''
  if (/^\s*attachment/i.test(disposition)) return true
  return !/^text\/(?:plain|html)$/.test(part.type) || filenameOf(part) !== ''
}

/** Names by RFC 2231 in one or several pieces, or in encoded words. */
function filenameOf(part: ReportPart): string {
  const disposition = valueOf(part.fields, 'content-disposition') ?? ''
  const type = valueOf(part.fields, 'content-type') ?? ''
  for (const [text, name] of [
    [disposition, 'filename'],
    [type, 'name'],
  ] as const) {
    const pieces = [
      ...text.matchAll(new RegExp(String.raw`;\s*${name}(?:\*\d{1,3})?(\*?)\s*=\s*(?:"([^"]{0,500})"|([^;\s]{0,500}))`, 'gi')),
    ]
    const found = pieces.map(([, extended, quoted, plain = '']) => decodedName(quoted ?? plain, extended === '*')).join('')
    if (found !== '') return decodeEncodedWords(found)
  }
  return ''
}

function decodedName(value: string, isExtended: boolean): string {
  if (!isExtended) return value
  const text = value.slice(value.lastIndexOf("'") + 1)
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
