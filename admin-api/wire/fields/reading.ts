/** What a reader makes of a message, with the addresses of its parts. */
import type { ReadMessage, ReadResult } from '#core/capture/reading/message-reader.ts'

/** The contents of a message. One that could not be read has none, and keeps the subject that is known from elsewhere. */
interface MessageContents extends Pick<ReadMessage, 'headers' | 'text' | 'html'>, Partial<Pick<ReadMessage, 'subject'>> {
  readonly attachments: readonly (ReadMessage['attachments'][number] & { readonly url: string })[]
  readonly unreadable?: string
}

/** `url` is the address of the message, under which its attachments stand. */
export function contentsOf(read: ReadResult, url: string): MessageContents {
  if (!read.ok) return { headers: [], text: '', html: '', attachments: [], unreadable: read.unreadable }
  const { subject, headers, text, html, attachments } = read.message
  return { subject, headers, text, html, attachments: attachments.map((file, index) => ({ ...file, url: `${url}/attachments/${index}` })) }
}
