/** Attachments in REST requests: base64 with a name and a type. The core cleans names and types for the message. */
import * as z from 'zod'
import type { UncheckedAttachment } from '#core/submission/compose/attachments.ts'
import { Base64File } from '#core/submission/compose/base64.ts'
import { withOctets } from '../../bodies/json/long-texts.ts'

const contentId = /^[\w!#$%&'*+\-/=?^`{|}~.@]{1,200}$/

const cid = z
  .string()
  .transform((given) => given.replace(/^<(.*)>$/, '$1'))
  .pipe(z.string().regex(contentId, 'must be a content id such as logo@example.ch'))
  .meta({ description: 'The HTML refers to the file as `cid:` followed by this id.' })

/** Longer texts are checked later, in steps. */
const maxCheckedHere = 32_768

const content = z.unknown().transform((given, context): UncheckedAttachment['content'] => {
  if (given instanceof Uint8Array) return { unchecked: given }
  if (typeof given !== 'string') context.issues.push({ code: 'invalid_type', expected: 'string', input: given })
  else if (given.length > maxCheckedHere) return { unchecked: given }
  else {
    const parsed = Base64File.parse(given)
    if (parsed instanceof Base64File) return parsed
    context.addIssue({ code: 'custom', message: parsed.fault })
  }
  return z.NEVER
})

const fields = z
  .strictObject({
    filename: z
      .string()
      .max(4096)
      .optional()
      .meta({
        description:
          'Paths, control and invisible characters are removed, reserved ones replaced; at most 255 bytes are kept. ' +
          'Defaults to `attachment` with the extension of the type.',
      }),
    content: content.meta({
      type: 'string',
      description: 'The bytes of the file in base64 (RFC 4648 §4). Line breaks are allowed; padding can be omitted.',
    }),
    content_type: z
      .string()
      .optional()
      .meta({
        description:
          'Defaults to the type for the extension of the name, also for application/octet-stream. multipart and message types ' +
          'are refused, except message/rfc822.',
      }),
    content_id: cid.optional(),
    cid: cid.optional().meta({ description: 'Alias of `content_id`.' }),
    disposition: z.enum(['inline', 'attachment']).optional().meta({
      description:
        'Defaults to `inline` for files with a content id, except texts and messages. Defaults to `attachment` for all other files.',
    }),
  })
  .refine((given) => given.content_id === undefined || given.cid === undefined, {
    path: ['cid'],
    message: 'is an alias of content_id; give only one of them',
  })
  .transform((given): UncheckedAttachment => ({
    filename: given.filename,
    contentType: given.content_type,
    content: given.content,
    contentId: given.content_id ?? given.cid,
    ...(given.disposition && { disposition: given.disposition }),
  }))

/** The content of a large file never becomes a string: its octets are checked and sent directly. */
export const attachment = z.preprocess((given) => withOctets(given, 'content'), fields)
