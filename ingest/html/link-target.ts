/** Decides which links may be tracked: http and https addresses outside of this service. Pure. */
import { resolvedAddress } from './addressed-elements.ts'

const maxTarget = 2048

/**
 * The address of a trackable link, resolved like in a browser and safe for a header field. Undefined if the link must stay unchanged:
 * another scheme, credentials, a template placeholder, an address below `ownUrl`, or a relative address without `base`.
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

/** Braces, angle brackets and other template marks are invalid in an address (RFC 3986 §2), as is a `%` without two digits. */
const isUnfinished = (text: string): boolean => /[{}<>\ufffd]|\*\||\|\*|\[\[|\]\]|%(?![0-9a-f]{2})/i.test(text)
