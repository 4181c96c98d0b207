/** What a message leads to and would load, by its text; looked at only as far as a reader would. */
import type { CapturedMessage } from '../wire/operations.ts'

export interface FoundLink {
  readonly address: string
  /** In the HTML part, or in the text. */
  readonly where: 'html' | 'text'
}

const maxLooked = 512 * 1024
const maxFound = 500

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string): string => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => names[name] ?? whole)

/** Each address once, in the order in which they come. */
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

/** How many images of other servers the message names. */
export function remoteImagesOf(html: string): number {
  const found = new Set<string>()
  for (const [, , address = ''] of html
    .slice(0, maxLooked)
    .matchAll(/<img\b[^<>]{0,2000}?\s(?:data-remote-)?src\s*=\s*(["']?)(https?:[^"'\s>]{1,2000})/gi))
    found.add(address)
  for (const [, address = ''] of html.slice(0, maxLooked).matchAll(/url\(\s*["']?(https?:[^"')\s]{1,2000})/gi)) found.add(address)
  return found.size
}
