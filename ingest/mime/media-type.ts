/** Validates the media type that a part declares. */
import { octetStream } from '#config/mail/media-types.ts'

const contentTypeShape = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/

/** The media type in lower case without parameters, or `application/octet-stream` if it is missing or malformed. */
export function safeContentType(declared: string | undefined): string {
  const type = (declared ?? '').trim().toLowerCase()
  return contentTypeShape.test(type) ? type : octetStream
}
