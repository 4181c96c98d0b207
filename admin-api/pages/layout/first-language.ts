/** The language of a reader, if the address does not contain one. */
import type { IncomingHttpHeaders } from 'node:http'

/** Returns the first language in `Accept-Language`, or an empty text. */
export const firstLanguage = ({ 'accept-language': accepted = '' }: IncomingHttpHeaders): string =>
  accepted.slice(0, 35).split(/[,;]/)[0]?.trim() ?? ''
