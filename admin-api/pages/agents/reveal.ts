/**
 * The page of a reveal link, which shows a token once. It shows a button first, since scanners of mails and chats open links. A program
 * that requests JSON gets the token at once.
 */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { PublishableKey } from '#core/publishable/publishable-key.ts'
import type { Reveals } from '#core/publishable/reveals.ts'
import { answer, media, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { underOwnAddress } from '../session/own-address.ts'
import { publicRefusalPage } from '../layout/refusal-page.ts'
import { textsFor, type PageTexts } from '../texts/texts-for.ts'

export interface RevealCore {
  readonly reveals: Reveals
  /** Address of the pages for people. */
  readonly origin: string
}

/** Only programs request JSON explicitly. Browsers get the page, which does not use up the token. */
const wantsJson = ({ accept = '' }: IncomingHttpHeaders): boolean => /^application\/json\b/i.test(accept.trim())

export function revealOperations({ reveals, origin }: RevealCore): readonly Operation[] {
  const common = {
    ...{ path: '/reveal/{code}', tags: ['pages'], scope: 'none', hiddenFromOpenApi: true },
    params: z.strictObject({ code: z.string().max(200) }),
    response: media('text/html'),
    errorRenderer: (refusal, headers) => (wantsJson(headers) ? undefined : publicRefusalPage(refusal, headers)),
  } as const satisfies Partial<Operation>
  return underOwnAddress(origin, [
    operation({
      ...common,
      ...{ method: 'GET', operationId: 'showReveal', summary: 'Ask whether to show a token' },
      async handle({ params: { code }, headers, headOnly }) {
        if (!wantsJson(headers) || headOnly) return askFirst(code, (await reveals.look(code)).key, textsFor(headers))
        return answer({ raw_token: await reveals.take(code) }, { headers: safe })
      },
    }),
    // a forged form needs the link, and the link alone gives the token, so no other check is needed
    operation({
      ...common,
      ...{ method: 'POST', operationId: 'reveal', summary: 'Show a token once' },
      async handle({ params: { code }, headers }) {
        const token = await reveals.take(code)
        return wantsJson(headers) ? answer({ raw_token: token }, { headers: safe }) : shown(token, textsFor(headers))
      },
    }),
  ])
}

const safe = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }

const askFirst = (code: string, { id, name, allowedOrigins }: PublishableKey, { lang, mail: { reveal } }: PageTexts): Answer =>
  page({
    title: reveal.title,
    lang,
    letterhead: { heading: reveal.title, lead: reveal.lead({ key: name || id, origins: allowedOrigins.join(', ') }) },
    content: html`<form method="post" action="/reveal/${code}">
      <button>${reveal.button}</button>
    </form>`,
    headers: { 'referrer-policy': 'same-origin' },
  })

const shown = (token: string, { lang, mail: { reveal } }: PageTexts): Answer =>
  page({
    title: reveal.yours,
    lang,
    letterhead: { heading: reveal.yours, lead: reveal.copy },
    content: html`<div class="record"><code class="token" tabindex="0">${token}</code></div>`,
    headers: safe,
  })
