/** The links of a mail to the web. They are read and never followed. */
import type { HtmlPage } from './html-page.ts'

export interface WebLink {
  readonly url: URL
  /** What stands in the mail for it; of a link in plain text, the address itself. */
  readonly text: string
  /** As it is written. */
  readonly href: string
}

const maxLinks = 1000
const maxHref = 4000
const inText = /https?:\/\/[^\s<>"'`|\\^{}[\]]{1,4000}/gi

/** http and https only; addresses that cannot be read are left out. */
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

/** A link by which readers leave a list. */
export const isUnsubscribeLink = ({ url, text }: WebLink): boolean =>
  /un-?subscri|opt-?out|abmeld|abbestell|austrag|d[ée]s-?(?:abonn|inscri)|disiscri|cancella(?:ti|re)|darse.{0,3}de.{0,3}baja|afmeld|avregistr|avmeld|frameld/i.test(
    `${text} ${url.pathname}${url.search}`.slice(0, 2000),
  )
