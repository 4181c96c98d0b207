/** In which language a reader is answered, where the address does not say it. */
import type { IncomingHttpHeaders } from 'node:http'

/** The first language that a browser asks for; empty for none. */
export const firstLanguage = ({ 'accept-language': accepted = '' }: IncomingHttpHeaders): string =>
  accepted.slice(0, 35).split(/[,;]/)[0]?.trim() ?? ''
