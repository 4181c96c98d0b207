/** Refusals under the address of forms: in the look of forms, without a form. */
import type { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { html } from '../layout/html.ts'
import { ownTheme } from './form-assets.ts'
import { formFrame } from './form-frame.ts'
import { wordsFor } from './words/words-for.ts'

export function formRefusalPage({ code, message, retryAfterSeconds }: Refusal): Answer {
  const isNothing = code === 'form_not_found' || code === 'not_found'
  const title = isNothing ? 'No form is here' : 'That did not work'
  const lead = isNothing
    ? 'The address may be mistyped, or the form is not open at the moment. Whoever gave you the address can say more.'
    : message
  return formFrame({
    ...{ locale: 'en', words: wordsFor('en'), title, theme: ownTheme.path, mode: 'auto', isSecure: false, isPrivate: true },
    letterhead: html`<p class="sender">Postern</p>`,
    sheet: html`<h1>${title}</h1>
      <p class="lead">${lead}</p>`,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}
