/** The web links of a mail. They are parsed and never followed. */
import type { HtmlPage } from './html-page.ts'

export interface WebLink {
  readonly url: URL
  /** The text of the link; for a link in plain text, the address itself. */
  readonly text: string
  /** The address as written. */
  readonly href: string
}

const maxLinks = 1000
const maxHref = 4000
const inText = /https?:\/\/[^\s<>"'`|\\^{}[\]]{1,4000}/gi

/** Finds http and https links. Invalid addresses are skipped. */
export function webLinks(page: HtmlPage | null, text: string | null): WebLink[] {
  const written = [
    ...(page?.links ?? []),
    ...(text === null
      ? []
      : [...text.matchAll(inText)].slice(0, maxLinks).map(([href]) => ({ href: href.replace(/[).,;:!?]+$/, ''), text: href }))),
  ]
  return written.slice(0, maxLinks).flatMap(({ href, text: shown }) => {
    if (href.length > maxHref || !/^\s*(?:https?:)?\/\//i.test(href)) return []
    const url = URL.parse(href.trim(), 'https://invalid.invalid')
    return url ? [{ url, text: shown, href }] : []
  })
}

/** Recognizes a link to unsubscribe from a list. */
export const isUnsubscribeLink = ({ url, text }: WebLink): boolean =>
  /un-?subscri|opt-?out|abmeld|abbestell|austrag|d[ée]s-?(?:abonn|inscri)|disiscri|cancella(?:ti|re)|darse.{0,3}de.{0,3}baja|afmeld|avregistr|avmeld|frameld/i.test(
    `${text} ${url.pathname}${url.search}`.slice(0, 2000),
  )
