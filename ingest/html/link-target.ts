/** Which links may lead over this service: http and https addresses that are whole, and not our own. Pure. */
import { resolvedAddress } from './addressed-elements.ts'

const maxTarget = 2048

/**
 * The address as a browser would read it, without anything that could break a header field; undefined for a link that stays as
 * it is: another scheme, a login in it, a part that another program is to fill in, an address under `ownUrl`, or a relative one
 * without `base`.
 */
export function linkTarget(value: string, ownUrl: string, base?: string): string | undefined {
  if (value.length > maxTarget) return undefined
  const text = value.replaceAll(/^[\0- ]+|[\0- ]+$/g, '')
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(text)
  if (/^(?:#|$)/.test(text) || (isAbsolute && !/^https?:\/\//i.test(text)) || isUnfinished(text)) return undefined
  const url = resolvedAddress(text, base)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  if (url.href.length > maxTarget || url.href.startsWith(new URL(`${ownUrl}/`).href)) return undefined
  return url.href
}

/** Braces, angle brackets and the other marks of templates are no characters of an address (RFC 3986 §2), nor is a % without two digits. */
const isUnfinished = (text: string): boolean => /[{}<>\ufffd]|\*\||\|\*|\[\[|\]\]|%(?![0-9a-f]{2})/i.test(text)
