/** The page and the one click behind List-Unsubscribe. Following the link changes nothing; only the click does (RFC 8058 §3.2). */
import * as z from 'zod'
import { invalid } from '#core/refusals.ts'
import type { Subscription } from '#core/feedback/unsubscribes.ts'
import { media, raw, type Answer } from '../answer.ts'
import { streamed, type BodyStream } from '../body-stream.ts'
import { operation, type Operation } from '../operation.ts'
import type { RestCore } from './core.ts'

const tags = ['suppressions']
const params = z.strictObject({ token: z.string().min(1).max(200).toLowerCase() })
const click = z.string().meta({ description: 'List-Unsubscribe=One-Click' })
const formBytesMax = 4096

const headers = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
}

export const unsubscribeOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/unsubscribe/{token}',
    operationId: 'showUnsubscribe',
    summary: 'Ask a recipient whether to unsubscribe',
    tags,
    right: 'none',
    errors: ['not_found'],
    params,
    response: media('text/html'),
    handle: async ({ params: { token } }) => page(question(await core.unsubscribes.look(token))),
  }),
  operation({
    method: 'POST',
    path: '/unsubscribe/{token}',
    operationId: 'unsubscribe',
    summary: 'Unsubscribe a recipient with one click',
    description: 'Puts the recipient on the suppression list of the organization. Again, it changes nothing.',
    tags,
    right: 'none',
    errors: ['not_found', 'storage_full'],
    maxBodyBytes: formBytesMax,
    params,
    body: streamed({ 'application/x-www-form-urlencoded': click, 'multipart/form-data': click }),
    response: media('text/html'),
    async handle({ params: { token }, body }) {
      await checkClick(body)
      return page(confirmation(await core.unsubscribes.unsubscribe(token)))
    },
  }),
]

/** The one field of RFC 8058 §3.1, in either form encoding. */
async function checkClick({ bytes }: BodyStream): Promise<void> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  const text = Buffer.concat(pieces).toString('latin1')
  if (/(?:^|&)List-Unsubscribe=One-Click(?:&|\s*$)/.test(text)) return
  if (/name="?List-Unsubscribe"?[^]{0,200}?\r\n\r\nOne-Click\r\n/.test(text)) return
  throw invalid([{ path: 'List-Unsubscribe', message: 'must be One-Click (RFC 8058)' }])
}

const question = ({ recipient, sender }: Subscription): string =>
  `<h1>Unsubscribe?</h1><p><b>${escape(recipient)}</b> will get no more mail of this kind from <b>${escape(sender)}</b>.</p>` +
  '<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>'

const confirmation = ({ recipient, sender }: Subscription): string =>
  `<h1>You are unsubscribed</h1><p><b>${escape(recipient)}</b> gets no more mail from <b>${escape(sender)}</b>. You can close this page.</p>`

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:0;min-height:100vh;display:grid;place-items:center;background:#f4f5f7;color:#1c2430}' +
  'main{box-sizing:border-box;max-width:28rem;width:calc(100% - 2rem);padding:2rem;background:#fff;border-radius:.75rem;box-shadow:0 1px 4px #0002;overflow-wrap:anywhere}' +
  'h1{font-size:1.4rem;margin:0 0 .75rem}p{margin:0 0 1.25rem}' +
  'button{font:inherit;font-weight:600;padding:.6rem 1.2rem;border:0;border-radius:.5rem;background:#1f5fd6;color:#fff;cursor:pointer}' +
  'button:focus-visible{outline:3px solid #9bbcff}'

const page = (content: string): Answer =>
  raw(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Unsubscribe</title><style>${style}</style><main>${content}</main></html>`,
    { contentType: 'text/html; charset=utf-8', headers },
  )

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => entities[c] ?? c)
