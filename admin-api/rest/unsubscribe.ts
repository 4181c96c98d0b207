/** The page and the one click behind List-Unsubscribe. Following the link changes nothing; only the click does (RFC 8058 §3.2). */
import * as z from 'zod'
import { invalid } from '#core/refusals.ts'
import type { Subscription } from '#core/feedback/unsubscribes.ts'
import { media, type Answer } from '../answer.ts'
import { streamed, type BodyStream } from '../body-stream.ts'
import { operation, type Operation } from '../operation.ts'
import { html } from '../pages/html.ts'
import { page } from '../pages/layout.ts'
import { strangerRefusalPage } from '../pages/refusal-page.ts'
import type { RestCore } from './core.ts'

const tags = ['suppressions']
const params = z.strictObject({ token: z.string().min(1).max(200).toLowerCase() })
const click = z.string().meta({ description: 'List-Unsubscribe=One-Click' })
const formBytesMax = 4096

export const unsubscribeOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/unsubscribe/{token}',
    operationId: 'showUnsubscribe',
    summary: 'Ask a recipient whether to unsubscribe',
    tags,
    right: 'none',
    refusalAs: strangerRefusalPage,
    errors: ['not_found'],
    params,
    response: media('text/html'),
    handle: async ({ params: { token } }) => question(await core.unsubscribes.look(token)),
  }),
  operation({
    method: 'POST',
    path: '/unsubscribe/{token}',
    operationId: 'unsubscribe',
    summary: 'Unsubscribe a recipient with one click',
    description: 'Puts the recipient on the suppression list of the organization. Again, it changes nothing.',
    tags,
    right: 'none',
    refusalAs: strangerRefusalPage,
    errors: ['not_found', 'storage_full'],
    maxBodyBytes: formBytesMax,
    params,
    body: streamed({ 'application/x-www-form-urlencoded': click, 'multipart/form-data': click }),
    response: media('text/html'),
    async handle({ params: { token }, body }) {
      await checkClick(body)
      return confirmation(await core.unsubscribes.unsubscribe(token))
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

const question = ({ recipient, sender }: Subscription): Answer =>
  page({
    title: 'Unsubscribe',
    content: html`<div class="sheet">
      <h1>Unsubscribe?</h1>
      <p><b>${recipient}</b> will get no more mail of this kind from <b>${sender}</b>.</p>
      <form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>
    </div>`,
  })

const confirmation = ({ recipient, sender }: Subscription): Answer =>
  page({
    title: 'Unsubscribed',
    content: html`<div class="sheet">
      <h1>You are unsubscribed</h1>
      <p><b>${recipient}</b> gets no more mail from <b>${sender}</b>. You can close this page.</p>
    </div>`,
  })
