/** The HTML of a captured message as a document of its own for a sandboxed frame: no script, no form, and only images that were agreed to. */
import type { ReadMessage } from '#core/capture/message-reader.ts'
import { raw, type Answer } from '../answer.ts'

export interface FrameOptions {
  /** Scheme, host and port of the pages. */
  readonly origin: string
  /** Path of the view, without a slash at the end. */
  readonly base: string
  readonly showsRemote: boolean
  /** The path of a remote image. */
  readonly remote: (address: string) => string
}

const image = /<img\b[^>]*>/g
const remoteSource = / data-remote-src="([^"]*)"/

/** How many images of others the message has. */
export const remoteImages = ({ html }: Pick<ReadMessage, 'html'>): number =>
  [...html.matchAll(image)].filter(([tag]) => remoteSource.test(tag)).length

/** The message is sanitized already; its values are in double quotes, and no `>` is in them. */
export function messageFrame({ html, attachments }: Pick<ReadMessage, 'html' | 'attachments'>, options: FrameOptions): Answer {
  const { origin, base, showsRemote, remote } = options
  const shown = html.replaceAll(image, (tag) => {
    const embedded = tag.replace(/ src="cid:([^"]*)"/, (_, contentId: string) => {
      const wanted = unescaped(contentId)
      const index = attachments.findIndex((one) => one.contentId?.replace(/^<|>$/g, '') === wanted || one.contentId === wanted)
      return index < 0 ? '' : ` src="${base}/embedded/${index}"`
    })
    return embedded.replace(remoteSource, (_, address: string) => (showsRemote ? ` src="${escaped(remote(unescaped(address)))}"` : ''))
  })
  const page = `<!doctype html><html lang="und"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Message</title><style>${style}</style></head><body>${shown}</body></html>`
  const images = ['data:', `${origin}${base}/embedded/`, ...(showsRemote ? [`${origin}${base}/image`] : [])]
  return raw(page, {
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

const style =
  ':root{color-scheme:light}body{margin:12px;font:16px/1.5 system-ui,sans-serif;color:#14212b;background:#fff;overflow-wrap:break-word}img{max-width:100%}table{max-width:100%}'

const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (text: string): string => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => names[name] ?? whole)
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
