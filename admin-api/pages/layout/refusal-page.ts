/** Refusals as pages: what happened, in the words of the refusal, and where to go on. */
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { negotiatedRefusal } from '../../http/negotiation.ts'
import type { ErrorRenderer } from '../../operation/operation.ts'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'

const titles: Partial<Record<RefusalCode, string>> = {
  not_found: 'Nothing here',
  misdirected: 'Another address',
  unauthorized: 'Sign in first',
  insufficient_scope: 'Not allowed',
  rate_limit_exceeded: 'Too many attempts',
  conflict: 'That did not work',
  validation_failed: 'That did not work',
  overloaded: 'Busy for a moment',
  storage_full: 'Busy for a moment',
  internal_error: 'Something broke',
}

/** The `errorRenderer` of pages for people who have an account. */
export const refusalPage = (refusal: Refusal): Answer =>
  show(refusal, html`<a class="button quiet" href="/organizations">Go to the start page</a>`)

/** For an address where nothing is: a page for who reads it in a browser, and the error envelope for programs. */
export const nothingPage: ErrorRenderer = negotiatedRefusal((refusal) => {
  const isForeign = refusal.nextAction !== nothing.nextAction
  return show(
    isForeign ? refusal : nothing,
    html`<div class="ways">
      <a class="button" href="/">Go to the start</a>
      <a class="button quiet" href="/openapi.json">API description</a>
    </div>`,
  )
})

const nothing = new Refusal('not_found', 'Nothing is served at this address. Check that it is complete.')

/** The `errorRenderer` of pages for people who have none. */
export const publicRefusalPage = (refusal: Refusal): Answer => show(refusal)

/** The arch of the mark: crossed out where the way ends here. */
const closedGate = html`<svg class="gate" viewBox="0 0 48 48" aria-hidden="true" focusable="false">
  <path d="M9 42V21a15 15 0 0 1 30 0v21" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="M3 42h42" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="m18 20 12 12m0-12L18 32" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
</svg>`

function show({ code, message, retryAfterSeconds }: Refusal, way?: Html): Answer {
  const title = titles[code] ?? 'That did not work'
  return page({
    title,
    content: html`<div class="sheet">
      ${code === 'not_found' && closedGate}
      <h1>${title}</h1>
      <p>${message}</p>
      ${way}
    </div>`,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}
