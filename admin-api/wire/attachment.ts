/** Attachments as callers of REST give them: base64 and a name, turned into bytes and a name that is safe in a header. */
import * as z from 'zod'
import type { Attachment } from '#core/submission/mime-parts.ts'
import { isOneLine } from './text.ts'

const filenameOctetsMax = 255
// RFC 2045 §5.1: type, subtype, and parameters with a token or a quoted text.
const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:; ?[\w!#$&^.+-]{1,64}=(?:[\w!#$&^.+/-]{1,128}|"[ !#-[\]-~]{0,128}"))*$/
const contentId = /^[\w!#$%&'*+\-/=?^`{|}~.@]{1,200}$/

const name = z
  .string()
  .max(1000)
  .transform((given, context) => {
    const base = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1).trim()
    const fault = nameFault(base)
    if (fault === undefined) return base
    context.addIssue({ code: 'custom', message: fault })
    return z.NEVER
  })

function nameFault(base: string): string | undefined {
  if (!isOneLine(base)) return 'must be on one line, without control characters'
  if (base === '' || base === '.' || base === '..') return 'must be the name of a file, such as invoice.pdf'
  return Buffer.byteLength(base) > filenameOctetsMax ? `at most ${filenameOctetsMax} bytes` : undefined
}

const type = z
  .string()
  .max(512)
  .regex(mediaType, 'must be a media type such as application/pdf')
  // Base64 is not for these (RFC 2045 §6.4); as plain bytes they arrive unharmed.
  .refine((given) => !/^(?:multipart|message)\//i.test(given), 'must not be multipart or message; use application/octet-stream')

const cid = z
  .string()
  .transform((given) => given.replace(/^<(.*)>$/, '$1'))
  .pipe(z.string().regex(contentId, 'must be a content id such as logo@example.ch'))
  .meta({ description: 'The HTML refers to the file by cid: and this.' })

const content = z.string().transform((given, context): Uint8Array => {
  const bare = given.replaceAll(/[\r\n\t ]+/g, '')
  if (isBase64(bare)) return Buffer.from(bare, 'base64')
  context.addIssue({ code: 'custom', message: 'must be base64 (RFC 4648 §4)' })
  return z.NEVER
})

/** Line breaks are gone already. Padding is all there or not at all, and the bits after the last byte are zero (RFC 4648 §3.5). */
function isBase64(bare: string): boolean {
  const padding = bare.endsWith('==') ? 2 : bare.endsWith('=') ? 1 : 0
  const digits = padding === 0 ? bare : bare.slice(0, -padding)
  if (padding > 0 && bare.length % 4 !== 0) return false
  const rest = digits.length % 4
  if (rest === 1 || (rest === 2 && !/[AQgw]$/.test(digits.slice(-1))) || (rest === 3 && !/[AEIMQUYcgkosw048]$/.test(digits.slice(-1))))
    return false
  // A search for a wrong character is linear; the shape of the whole is checked by its length.
  return !/[^A-Za-z0-9+/]/.test(digits)
}

export const attachment = z
  .strictObject({
    filename: name,
    content: content.meta({ description: 'The bytes of the file in base64 (RFC 4648 §4); line breaks are fine, padding can be left out.' }),
    content_type: type.optional(),
    content_id: cid.optional(),
    cid: cid.optional().meta({ description: 'Another name for content_id.' }),
  })
  .refine((given) => given.content_id === undefined || given.cid === undefined, {
    path: ['cid'],
    message: 'is the same as content_id; give one',
  })
  .transform((given): Attachment => ({
    filename: given.filename,
    contentType: given.content_type ?? 'application/octet-stream',
    content: given.content,
    contentId: given.content_id ?? given.cid,
  }))
