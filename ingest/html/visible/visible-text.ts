/** The visible part of a message's HTML as text, for programs that read mail. */
import type { MailDocument, VisibleText } from '#core/capture/reading/message-reader.ts'
import { textOfHtml } from '../html-text.ts'
import { visibleHtml } from './visible-html.ts'

const maxText = 48_000

/** Returns undefined for a message without HTML. */
export function visibleText(document: MailDocument): VisibleText | undefined {
  if (document.html.trim() === '') return undefined
  const { html, hidden, marked, links, linksLeftOut, leftOut } = visibleHtml(document)
  const text = textOfHtml(withRealHosts(html))
  const shown = text.slice(0, maxText).toWellFormed()
  return { text: shown, leftOut: Math.max(text.length - shown.length, leftOut), hidden, marked, links, linksLeftOut }
}

/** Converts the hosts of links to A-labels, so that lookalike characters are recognizable. */
const withRealHosts = (html: string): string =>
  html.replaceAll(/ (href|data-address)="([^"]*)"/g, (_, name: string, href: string) => {
    const url = URL.parse(href.replaceAll('&amp;', '&'))
    return url ? ` ${name}="${url.href.replaceAll('&', '&amp;').replaceAll('"', '%22')}"` : ''
  })
