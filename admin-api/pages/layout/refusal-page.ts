/** Refusals as pages: the error in its own words, and a link to continue. */
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { negotiatedRefusal } from '../../http/negotiation.ts'
import type { ErrorRenderer } from '../../operation/operation.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { saidIn, textsFor, type PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'

const groups = {
  not_found: 'not_found',
  misdirected: 'misdirected',
  unauthorized: 'unauthorized',
  insufficient_scope: 'insufficient_scope',
  rate_limit_exceeded: 'rate_limit_exceeded',
  overloaded: 'overloaded',
  storage_full: 'overloaded',
  internal_error: 'internal_error',
} as const satisfies Partial<Record<RefusalCode, keyof PageTexts['refusals']>>

const groupOf = (code: RefusalCode): keyof PageTexts['refusals'] =>
  Object.hasOwn(groups, code) ? groups[code as keyof typeof groups] : 'other'

/** The `errorRenderer` of pages for users with an account. */
export const refusalPage = (refusal: Refusal, headers: IncomingHttpHeaders): Answer => {
  const texts = textsFor(headers)
  return show(refusal, texts, html`<a class="button quiet" href="/organizations">${texts.toStartPage}</a>`)
}

/** Renders an unknown address: a page for browsers, and the error envelope for programs. */
export const nothingPage: ErrorRenderer = negotiatedRefusal((refusal, headers) => {
  const isForeign = refusal.nextAction !== nothing.nextAction
  const texts = textsFor(headers)
  return show(
    isForeign ? refusal : nothing,
    texts,
    html`<div class="ways">
      <a class="button" href="/">${texts.toStart}</a>
      <a class="button quiet" href="/openapi.json">${texts.apiDescription}</a>
    </div>`,
  )
})

const nothing = new Refusal('not_found', 'Nothing is served at this address. Check that it is complete.')

/** The `errorRenderer` of pages for visitors without an account. */
export const publicRefusalPage = (refusal: Refusal, headers: IncomingHttpHeaders): Answer => show(refusal, textsFor(headers))

/** The arch of the logo, crossed out. */
const closedGate = html`<svg class="gate" viewBox="0 0 48 48" aria-hidden="true" focusable="false">
  <path d="M9 42V21a15 15 0 0 1 30 0v21" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="M3 42h42" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="m18 20 12 12m0-12L18 32" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
</svg>`

function show({ code, message, retryAfterSeconds }: Refusal, texts: PageTexts, way?: Html): Answer {
  const { title, text } = texts.refusals[groupOf(code)]
  return page({
    title,
    lang: texts.lang,
    content: html`<div class="sheet">
      ${code === 'not_found' && closedGate}
      <h1>${title}</h1>
      ${texts.lang === 'en' ? html`<p>${message}</p>` : withTranslation(texts, message, text)} ${way}
    </div>`,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}

/** Returns the translated sentence. Without one, returns the kind of the refusal with the English sentence below. */
function withTranslation(texts: PageTexts, message: string, text: string): Html {
  const known = saidIn(texts, message)
  if (known !== undefined) return html`<p>${known}</p>`
  return html`<p>${text}</p>
    <p class="meta" lang="en">${message}</p>`
}
