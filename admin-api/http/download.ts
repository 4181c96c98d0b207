/** Responses that are files: always saved, never displayed as part of this site. */
import * as z from 'zod'
import type { ReadAttachment } from '#core/capture/reading/message-reader.ts'
import { raw, type Answer, type AnswerBody } from '../operation/answer.ts'
import type { WireFinalInvoice } from '../wire/organization/invoices.ts'
import { withNumberForm } from '../wire/fields/text-form.ts'
import { explainedCsv, type WireInvoice } from '../wire/organization/usage.ts'

/** The index of an attachment in a path. */
export const attachmentIndex = withNumberForm(
  z.int().min(0).max(9999),
  /^\d{1,4}$/,
  'must be the index of the attachment in the message, starting at 0',
)

type Headers = Readonly<Record<string, string>>

/** Returns a message as a file named by its id. */
export const messageFile = (body: AnswerBody, messageId: string, headers: Headers = {}): Answer =>
  raw(body, { contentType: 'message/rfc822', headers: { ...headers, ...attachmentHeaders(`${messageId}.eml`) } })

/** Returns an attachment as a file; `known` contains the facts declared in its message. */
export const attachmentFile = (body: AnswerBody, index: number, known: ReadAttachment | undefined, headers: Headers = {}): Answer =>
  raw(body, {
    contentType: servedType(known?.contentType ?? ''),
    headers: { ...headers, ...attachmentHeaders(known?.filename ?? `attachment-${index + 1}`) },
  })

/** Types that browsers display without running code; other types are served as bytes. */
const harmless: ReadonlySet<string> = new Set(['application/pdf', 'image/gif', 'image/jpeg', 'image/png', 'image/webp', 'text/plain'])

const servedType = (declared: string): string => (harmless.has(declared) ? declared : 'application/octet-stream')

/** RFC 6266 §4.3: a plain name for old clients, and the exact name in RFC 8187 encoding. */
export function attachmentHeaders(filename: string): Headers {
  const plain = filename.replaceAll(/[^\w.() -]/g, '_')
  const real = encodeURIComponent(filename.toWellFormed()).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return { 'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${real}` }
}

/** Returns a final invoice as a CSV file. */
export const finalInvoiceFile = (invoice: WireFinalInvoice) =>
  raw(explainedCsv(invoice), {
    contentType: 'text/csv; charset=utf-8',
    headers: attachmentHeaders(`${invoice.number}.csv`),
  })

/** Returns the preview of an invoice as a CSV file. */
export const invoiceFile = (preview: WireInvoice) =>
  raw(explainedCsv(preview), {
    contentType: 'text/csv; charset=utf-8',
    headers: attachmentHeaders(`invoice-preview-${preview.period}.csv`),
  })
