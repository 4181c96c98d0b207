/** A mail taken apart for the checks: leniently, so that what is wrong with it can be reported and the rest still be read. */
import { addressList, type ListedAddress } from '../../mime/address-list.ts'
import { decodeEncodedWords } from '../../mime/encoded-words.ts'
import { headerFields, type HeaderField } from '../../mime/header-fields.ts'
import { openMessage, type OpenedAttachment, type OpenedMessage } from '../../messages/open-message.ts'
import { openReportMail, type ReportPart } from '../../report/mail/report-mail.ts'
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
  /** Octets of the decoded HTML, with CRLF as line end. */
  readonly htmlOctets: number
  readonly attachments: readonly Attachment[]
  /** Addresses of the From field. */
  readonly from: readonly ListedAddress[]
  /** The domain of the first of them; empty when there is none. */
  readonly fromDomain: string
  /** Decoded. */
  readonly subject: string
}

/** Parses a mail with the reader that people use. Texts and files are empty for a mail that exceeds the limits of that reader. */
export async function openMail(octets: Uint8Array): Promise<Mail> {
  const raw = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const fields = headerFields(raw)
  const { text, html, attachments } = await openMessage(raw, false, 'all').catch(() => nothingShown)
  const from = addressList(valueOf(fields, 'from') ?? '')
  return {
    ...{ raw, fields, parts: openReportMail(raw).parts, head: headOf(raw) },
    text: text === '' ? null : text.slice(0, maxShown),
    html: html === '' ? null : html.slice(0, maxShown),
    htmlOctets: Buffer.byteLength(html) + (html.match(/(?<!\r)\n/g)?.length ?? 0),
    attachments: attachments.map(attachmentOf),
    from,
    fromDomain: domainOf(from.find(({ address }) => address !== '')?.address ?? ''),
    subject: decodeEncodedWords(valueOf(fields, 'subject') ?? ''),
  }
}

const maxShown = 1_000_000
const nothingShown: Pick<OpenedMessage, 'text' | 'html' | 'attachments'> = { text: '', html: '', attachments: [] }

const attachmentOf = ({ raw, octets }: OpenedAttachment): Attachment => ({
  filename: raw.filename ?? '',
  type: raw.contentType.trim().toLowerCase(),
  octets: Buffer.from(octets ?? []),
})

/** The first value of a field, unfolded. */
export const valueOf = (fields: readonly HeaderField[], name: string): string | undefined =>
  fields.find((field) => field.name.toLowerCase() === name)?.value

export const countOf = (fields: readonly HeaderField[], name: string): number =>
  fields.filter((field) => field.name.toLowerCase() === name).length

function headOf(raw: Buffer): string {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => raw.indexOf(mark)).filter((at) => at >= 0)
  const end = ends.length > 0 ? Math.min(...ends) : raw.length
  return raw.toString('latin1', 0, end)
}
