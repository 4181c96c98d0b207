/** The parsed contents of a message, with the URLs of its attachments. */
import * as z from 'zod'
import type { ReadMessage, ReadResult } from '#core/capture/reading/message-reader.ts'
import { readingNotesShape } from '#core/inbound-routes/webhook-body.ts'

/** Contents of a message. A message that cannot be parsed has no contents and keeps the subject stored in its record. */
interface MessageContents extends Pick<ReadMessage, 'headers' | 'text' | 'html'>, Partial<Pick<ReadMessage, 'subject'>> {
  readonly attachments: readonly (ReadMessage['attachments'][number] & { readonly url: string })[]
  readonly readingNotes: readonly { readonly code: ReadMessage['notes'][number]['code']; readonly message: string }[]
  readonly unreadable?: string
}

/** `url` is the URL of the message; attachment URLs start with it. */
export function contentsOf(read: ReadResult, url: string): MessageContents {
  if (!read.ok) return { headers: [], text: '', html: '', attachments: [], readingNotes: [], unreadable: read.unreadable }
  const { subject, headers, text, html, attachments, notes } = read.message
  const files = attachments.map((file, index) => ({ ...file, url: `${url}/attachments/${index}` }))
  const readingNotes = notes.map(({ code, sentence }) => ({ code, message: sentence }))
  return { subject, headers, text, html, attachments: files, readingNotes }
}

/** The contents on the wire. */
export const contentFields = {
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
  text: z.string(),
  html: z.string().meta({ description: 'Sanitized: without scripts, forms and remote content.' }),
  attachments: z.array(
    z.object({
      filename: z.string(),
      content_type: z.string(),
      size: z.int(),
      content_id: z.string().optional(),
      inline: z.boolean(),
      from_tnef: z.boolean().meta({ description: 'The file is inside a winmail.dat container, which is listed too.' }),
      url: z.string(),
    }),
  ),
  reading_notes: readingNotesShape,
  unreadable: z.string().optional().meta({ description: 'Why the message could not be parsed; its raw source is still available.' }),
}

export const viewUrl = z.string().meta({ description: 'A page that shows the message to anyone who has this URL, for about 15 minutes.' })
