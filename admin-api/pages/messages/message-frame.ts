/**
 * The HTML of a captured message as a separate document for a sandboxed frame. It contains no script and no form, and images only with
 * consent.
 */
import type { MailDocument, ReadMessage } from '#core/capture/reading/message-reader.ts'
import { decodedId } from '#ingest/html/content-address.ts'
import { withAddresses } from '#ingest/html/mail-styles.ts'
import { raw, type Answer } from '../../operation/answer.ts'

export interface FrameOptions {
  /** Scheme, host and port of the pages. */
  readonly origin: string
  /** Path of the view, without a slash at the end. */
  readonly base: string
  readonly showsRemote: boolean
  /** Returns the path of a remote image. */
  readonly remote: (address: string) => string
}

/** Limit of remote addresses in one view, since each is signed. Real mail has far fewer. */
const maxRemoteImages = 1000

type Shown = Pick<ReadMessage, 'document' | 'attachments'>

const image = /<img\b[^>]*>/g
const remoteSource = / data-remote-src="([^"]*)"/
const styled = /(<[a-z][^<>]* style=")([^"]*url\([^"]*)"/g

/** Returns the number of remote images, including those in styles. */
export function remoteImages({ document }: Pick<ReadMessage, 'document'>): number {
  const { html, styles, root, body } = document
  const found = new Set<string>()
  const note = (address: string): undefined => void (/^https?:/.test(address) && found.add(address))
  for (const [tag] of html.matchAll(image)) {
    const address = remoteSource.exec(tag)?.[1]
    if (address !== undefined) found.add(unescaped(address))
  }
  for (const [, , style = ''] of html.matchAll(styled)) withAddresses(unescaped(style), note)
  for (const text of [styles, root['style'] ?? '', body['style'] ?? '']) withAddresses(text, note)
  return found.size
}

/** Requires a sanitized message: its values are in double quotes and contain neither `<` nor `>`. */
export function messageFrame({ document, attachments }: Shown, options: FrameOptions): Answer {
  const { origin, base, showsRemote, remote } = options
  const parts = indexesByContentId(attachments)
  const asked = new Map<string, string>()
  const throughService = (address: string): string | undefined => {
    const known = asked.get(address) ?? (asked.size < maxRemoteImages ? remote(address) : undefined)
    if (known !== undefined) asked.set(address, known)
    return known
  }
  const addressFor = (address: string): string | undefined => {
    if (address.startsWith('data:')) return address
    if (!address.startsWith('cid:')) return showsRemote ? throughService(address) : undefined
    const index = parts.get(address.slice('cid:'.length))
    return index === undefined ? undefined : `${base}/embedded/${index}`
  }
  const images = ['data:', `${origin}${base}/embedded/`, ...(showsRemote ? [`${origin}${base}/image`] : [])]
  return raw(pageOf(document, addressFor), {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': [
        'sandbox allow-popups allow-popups-to-escape-sandbox',
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        `img-src ${images.join(' ')}`,
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
      ].join('; '),
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    },
  })
}

/** Maps content ids to parts, with and without brackets and percent encoding. The first part of each name is used. */
function indexesByContentId(attachments: Shown['attachments']): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>()
  for (const [index, { contentId }] of attachments.entries())
    for (const name of contentId === undefined ? [] : [contentId, bareId(contentId), decodedId(bareId(contentId))])
      if (!indexes.has(name)) indexes.set(name, index)
  return indexes
}

const bareId = (contentId: string): string => contentId.replace(/^<|>$/g, '')

type AddressFor = (address: string) => string | undefined

function pageOf({ html, styles, root, body }: MailDocument, addressFor: AddressFor): string {
  const content = html
    .replaceAll(image, (tag) => {
      const own = tag.replace(/ src="(cid:[^"]*)"/, (_, address: string) => sourceOf(addressFor(unescaped(address))))
      return own.replace(remoteSource, (_, address: string) => sourceOf(addressFor(unescaped(address))))
    })
    .replaceAll(styled, (_, before: string, style: string) => `${before}${escaped(withAddresses(unescaped(style), addressFor))}"`)
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Message</title>`
  return (
    `<!doctype html><html${attributesOf(root, addressFor)}><head>${head}<style>${defaults}</style>` +
    `<style>${withAddresses(styles, addressFor)}</style></head><body${attributesOf(body, addressFor)}>${content}</body></html>`
  )
}

const sourceOf = (address: string | undefined): string => (address === undefined ? '' : ` src="${escaped(address)}"`)

const attributesOf = (attributes: Readonly<Record<string, string>>, addressFor: AddressFor): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(name === 'style' ? withAddresses(value, addressFor) : value)}"`)
    .join('')

/** In a layer, so that styles of the message take precedence. */
const defaults =
  '@layer{:root{color-scheme:light}body{margin:12px;font:16px/1.5 system-ui,sans-serif;color:#11201c;background:#fff;overflow-wrap:break-word}}'

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string): string => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => names[name] ?? whole)
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
