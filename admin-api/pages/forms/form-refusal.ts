/** Errors under the address of forms, in the style of forms and in the browser's first language. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import { firstLanguage } from '../layout/first-language.ts'
import { html } from '../layout/html.ts'
import { ownTheme } from './form-assets.ts'
import { formFrame } from './form-frame.ts'
import { type Notice, textsFor } from './texts/texts-for.ts'

/** Notices by code of the refusal. */
export const notices: Readonly<Record<string, Notice>> = {
  ...{ rate_limit_exceeded: 'rate', quota_exhausted: 'quota', origin_not_allowed: 'origin', file_uploads_unavailable: 'files' },
  ...{ upload_failed: 'upload', overloaded: 'upload', request_too_large: 'large' },
  ...{ captcha_required: 'captcha', captcha_failed: 'captcha', captcha_unavailable: 'captcha', captcha_not_configured: 'captcha' },
}

export function formRefusalPage({ code, message, retryAfterSeconds }: Refusal, headers: IncomingHttpHeaders): Answer {
  const texts = textsFor(firstLanguage(headers).toLowerCase())
  const { lang, refused, retry } = texts
  const isNothing = code === 'form_not_found' || code === 'not_found'
  const notice = notices[code]
  const why = notice === undefined ? (lang === 'en' ? message : retry.other) : retry[notice]
  const title = isNothing ? refused.nothing : refused.title
  return formFrame({
    ...{ locale: lang, texts, title, theme: ownTheme.path, mode: 'auto', isSecure: false, isPrivate: true },
    letterhead: html`<p class="sender">Postern</p>`,
    sheet: html`<h1>${title}</h1>
      <p class="lead">${isNothing ? refused.nothingHere : why}</p>`,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(Math.ceil(retryAfterSeconds)) } }),
  })
}
