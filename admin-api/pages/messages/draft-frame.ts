/**
 * The HTML of a template draft, as a separate document for a sandboxed frame. A frame inside the page would inherit the page's policy,
 * which blocks the styles of mails. The draft is not stored; only the page of this service that sent it can show it.
 */
import type { People } from '#core/people/people.ts'
import { media, raw } from '../../operation/answer.ts'
import { formBody, readForm } from '../../bodies/form-body.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { publicRefusalPage } from '../layout/refusal-page.ts'

/** Largest rendered HTML of a template, including its encoding. */
const maxFrameBytes = 4 * 1024 * 1024

/** Forbids scripts, forms and content of other hosts. Remote images are shown only in captured messages, through the service. */
const policy = [
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ')

export const draftFrameOperation = ({ relyingParty }: People): Operation =>
  operation({
    method: 'POST',
    path: '/view/draft',
    operationId: 'viewDraft',
    summary: 'Show the HTML of a draft, for a sandboxed frame',
    tags: ['pages'],
    scope: 'none',
    hiddenFromOpenApi: true,
    errorRenderer: publicRefusalPage,
    maxBodyBytes: maxFrameBytes,
    body: formBody,
    response: media('text/html'),
    async handle({ headers, body }) {
      requireSameOrigin(headers, relyingParty.origin)
      const html = (await readForm(body)).get('html') ?? ''
      return raw(documentOf(html), {
        contentType: 'text/html; charset=utf-8',
        headers: {
          'cache-control': 'no-store',
          'content-security-policy': policy,
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex, nofollow',
        },
      })
    },
  })

/** In a layer, so that styles of the mail take precedence. */
const head =
  '<meta name="viewport" content="width=device-width, initial-scale=1"><base target="_blank">' +
  '<style>@layer{body{margin:12px;font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}}</style>'

/** Removes addresses of remote images, which the policy would block anyway. */
const remoteImage = /(<img\b[^<>]{0,2000}?\s)src(?=\s{0,10}=\s{0,10}["']?\s{0,10}(?:https?:)?\/\/)/gi

function documentOf(html: string): string {
  const [doctype = '<!doctype html>'] = /^\s*<!doctype[^>]{0,200}>/i.exec(html) ?? []
  const rest = html.startsWith(doctype) ? html.slice(doctype.length) : html
  return doctype + head + rest.replaceAll(remoteImage, '$1data-remote-src')
}
