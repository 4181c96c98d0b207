/** Plain text with links for web and mail addresses. Links open a new window without access to this one. */
import { createRequire } from 'node:module'
import type LinkifyIt from 'linkify-it'
import { html, type Html, type HtmlValue } from '../layout/html.ts'

const require = createRequire(import.meta.url)
let linkify: LinkifyIt | undefined

/** In characters. The search time grows with the square of a line, so both limits keep a page below a tenth of a second. */
const maxLine = 1500
const maxSearched = 64 * 1024

/** Text beyond the limits has no links. */
export function linkedText(text: string): Html {
  linkify ??= newLinkify()
  const pieces: HtmlValue[] = []
  for (const line of text.slice(0, maxSearched).split(/(?<=\n)/)) {
    const found = line.length <= maxLine ? (linkify.match(line) ?? []) : []
    let at = 0
    for (const { index, lastIndex, url } of found) {
      const address = safeAddress(url)
      if (address === undefined) continue
      pieces.push(line.slice(at, index), link(address, line.slice(index, lastIndex)))
      at = lastIndex
    }
    pieces.push(line.slice(at))
  }
  pieces.push(text.slice(maxSearched))
  return html`${pieces}`
}

/** Loads the package with the first text. */
function newLinkify(): LinkifyIt {
  const Linkify = require('linkify-it') as typeof LinkifyIt
  return new Linkify({ fuzzyLink: false, fuzzyIP: false, fuzzyEmail: true }).add('ftp:', null).add('//', null)
}

const link = (address: string, text: string): Html => html`<a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a>`

function safeAddress(text: string): string | undefined {
  const url = URL.parse(text)
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
}
