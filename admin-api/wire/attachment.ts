/** Attachments as callers of REST give them: base64 with a name and a type. The core makes names and types fit for a message. */
import * as z from 'zod'
import type { UncheckedAttachment } from '#core/submission/compose/attachments.ts'
import { Base64File } from '#core/submission/compose/base64.ts'

const contentId = /^[\w!#$%&'*+\-/=?^`{|}~.@]{1,200}$/

const cid = z
  .string()
  .transform((given) => given.replace(/^<(.*)>$/, '$1'))
  .pipe(z.string().regex(contentId, 'must be a content id such as logo@example.ch'))
  .meta({ description: 'The HTML refers to the file by cid: and this.' })

/** Longer texts are looked at later, in steps. */
const checkedHereMax = 32_768

const content = z.string().transform((given, context): UncheckedAttachment['content'] => {
  if (given.length > checkedHereMax) return { unchecked: given }
  const parsed = Base64File.parse(given)
  if (parsed instanceof Base64File) return parsed
  context.addIssue({ code: 'custom', message: parsed.fault })
  return z.NEVER
})

export const attachment = z
  .strictObject({
    filename: z
      .string()
      .max(4096)
      .optional()
      .meta({
        description:
          'A path is dropped, as are control and invisible characters; what file systems reserve is replaced. Long names are cut to 255 bytes. ' +
          'Without one, attachment and the extension of the type.',
      }),
    content: content.meta({ description: 'The bytes of the file in base64 (RFC 4648 §4); line breaks are fine, padding can be left out.' }),
    content_type: z
      .string()
      .optional()
      .meta({
        description:
          'Without one, or with application/octet-stream, the type follows from the extension of the name. multipart and message types are ' +
          'refused, but for message/rfc822.',
      }),
    content_id: cid.optional(),
    cid: cid.optional().meta({ description: 'Another name for content_id.' }),
  })
  .refine((given) => given.content_id === undefined || given.cid === undefined, {
    path: ['cid'],
    message: 'is the same as content_id; give one',
  })
  .transform((given): UncheckedAttachment => ({
    filename: given.filename,
    contentType: given.content_type,
    content: given.content,
    contentId: given.content_id ?? given.cid,
  }))
