/** The media type that a part of a message declares, as far as it can be trusted to be one. */
import { octetStream } from '#config/mail/media-types.ts'

const contentTypeShape = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/

/** The media type in lower case without parameters; `application/octet-stream` when the message names none that is well-formed. */
export function safeContentType(declared: string | undefined): string {
  const type = (declared ?? '').trim().toLowerCase()
  return contentTypeShape.test(type) ? type : octetStream
}
