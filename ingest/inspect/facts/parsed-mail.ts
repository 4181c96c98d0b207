/** Parses a mail for the checks, leniently, so that the report can describe its faults. */
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
  /** The header with its line ends, without the empty line after it; one character for each octet. */
  readonly head: string
  readonly fields: readonly HeaderField[]
  readonly parts: readonly ReportPart[]
  /** The displayed bodies; null if the mail has no such body. */
  readonly text: string | null
  readonly html: string | null
  /** Octets of the decoded HTML, with CRLF line ends. */
  readonly htmlOctets: number
  readonly attachments: readonly Attachment[]
  /** Addresses in the From field. */
  readonly from: readonly ListedAddress[]
  /** The domain of the first From address; empty if missing. */
  readonly fromDomain: string
  /** The decoded subject. */
  readonly subject: string
}

/** Parses a mail with the parser used for display. Texts and files are empty if the mail exceeds its limits. */
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

/** The unfolded value of the first field with that name. */
export const valueOf = (fields: readonly HeaderField[], name: string): string | undefined =>
  fields.find((field) => field.name.toLowerCase() === name)?.value

export const countOf = (fields: readonly HeaderField[], name: string): number =>
  fields.filter((field) => field.name.toLowerCase() === name).length

function headOf(raw: Buffer): string {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => raw.indexOf(mark)).filter((at) => at >= 0)
  const end = ends.length > 0 ? Math.min(...ends) : raw.length
  return raw.toString('latin1', 0, end)
}
