/** What a person sees of the HTML of a message as text, for readers that are programs. */
import type { MailDocument, VisibleText } from '#core/capture/reading/message-reader.ts'
import { textOfHtml } from '../html-text.ts'
import { visibleHtml } from './visible-html.ts'

const maxText = 48_000

/** Undefined for a message without HTML. */
export function visibleText(document: MailDocument): VisibleText | undefined {
  if (document.html.trim() === '') return undefined
  const { html, hidden, marked, links, linksLeftOut, leftOut } = visibleHtml(document)
  const text = textOfHtml(withRealHosts(html))
  const shown = text.slice(0, maxText).toWellFormed()
  return { text: shown, leftOut: Math.max(text.length - shown.length, leftOut), hidden, marked, links, linksLeftOut }
}

/** Addresses of links with their host as it is asked for in DNS, whatever it looks like. */
const withRealHosts = (html: string): string =>
  html.replaceAll(/ (href|data-address)="([^"]*)"/g, (_, name: string, href: string) => {
    const url = URL.parse(href.replaceAll('&amp;', '&'))
    return url ? ` ${name}="${url.href.replaceAll('&', '&amp;').replaceAll('"', '%22')}"` : ''
  })
