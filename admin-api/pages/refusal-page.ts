/** Refusals as pages: what happened, in the words of the refusal, and where to go on. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import type { Answer } from '../answer.ts'
import { html, type Html } from './html.ts'
import { page } from './layout.ts'

const titles: Partial<Record<RefusalCode, string>> = {
  not_found: 'Nothing here',
  misdirected: 'Another address',
  unauthorized: 'Sign in first',
  insufficient_scope: 'Not allowed',
  rate_limit_exceeded: 'Too many tries',
  conflict: 'That did not work',
  validation_failed: 'That did not work',
  overloaded: 'Busy for a moment',
  storage_full: 'Busy for a moment',
  internal_error: 'Something broke',
}

/** The `refusalAs` of pages for people who have an account. */
export const refusalPage = (refusal: Refusal): Answer =>
  show(refusal, html`<a class="button quiet" href="/organizations">Go to the start page</a>`)

/** For an address where nothing is: a page for who reads it in a browser, and the error envelope for programs. */
export const nothingPage = (_refusal: Refusal, { accept = '' }: IncomingHttpHeaders): Answer | undefined =>
  /^text\/html\b/.test(accept)
    ? refusalPage(new Refusal('not_found', 'There is nothing at this address. Look whether it is complete.'))
    : undefined

/** The `refusalAs` of pages for people who have none. */
export const strangerRefusalPage = (refusal: Refusal): Answer => show(refusal)

function show({ code, message, retryAfterSeconds }: Refusal, way?: Html): Answer {
  const title = titles[code] ?? 'That did not work'
  return page({
    title,
    content: html`<div class="sheet">
      <h1>${title}</h1>
      <p>${message}</p>
      ${way}
    </div>`,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}
