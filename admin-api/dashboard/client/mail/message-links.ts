/** Finds links and remote images in the text of a message. Limits the scanned length. */
import type { CapturedMessage } from '../wire/api.d.ts'

export interface FoundLink {
  readonly address: string
  /** The part of the message that contains the link. */
  readonly where: 'html' | 'text'
}

const maxLooked = 512 * 1024
const maxFound = 500

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string): string => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => names[name] ?? whole)

/** Returns each distinct link in order of appearance. */
export function linksOf({ html, text }: Pick<CapturedMessage, 'html' | 'text'>): readonly FoundLink[] {
  const found = new Map<string, FoundLink>()
  const add = (address: string, where: FoundLink['where']): void => {
    if (found.size < maxFound && !found.has(address)) found.set(address, { address, where })
  }
  for (const [, double, single] of html.slice(0, maxLooked).matchAll(/\shref\s*=\s*(?:"([^"]{1,2000})"|'([^']{1,2000})')/gi))
    add(unescaped(double ?? single ?? '').trim(), 'html')
  for (const [address] of text.slice(0, maxLooked).matchAll(/https?:\/\/[^\s<>"')\]]{1,2000}/g)) add(address, 'text')
  return [...found.values()]
}

/** Returns the number of distinct remote images. */
export function remoteImagesOf(html: string): number {
  const found = new Set<string>()
  for (const [, , address = ''] of html
    .slice(0, maxLooked)
    .matchAll(/<img\b[^<>]{0,2000}?\s(?:data-remote-)?src\s*=\s*(["']?)(https?:[^"'\s>]{1,2000})/gi))
    found.add(address)
  for (const [, address = ''] of html.slice(0, maxLooked).matchAll(/url\(\s*["']?(https?:[^"')\s]{1,2000})/gi)) found.add(address)
  return found.size
}
