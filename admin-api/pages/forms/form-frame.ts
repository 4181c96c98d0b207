/** The frame of every page of a form: letterhead, sheet and footer, and the headers that keep a browser safe. */
import type { Settings, Theme } from '#core/forms/definition/definition.ts'
import { raw, type Answer } from '../../operation/answer.ts'
import { html, type Html } from '../layout/html.ts'
import { formIcon, formStyle } from './form-assets.ts'
import { directionOf } from './words/words-for.ts'
import type { FormWords } from './words/words.ts'

export interface FormFrame {
  /** Language of the texts of the form. */
  readonly locale: string
  readonly words: FormWords
  readonly title: string
  /** Address of the theme sheet. */
  readonly theme: string
  readonly mode: Theme['mode']
  readonly letterhead: Html
  readonly sheet: Html
  /** Origins whose pages may show it in a frame; empty is any. */
  readonly framedBy?: readonly string[]
  readonly captcha?: Settings['captcha']
  /** The address of forms is an https one. */
  readonly isSecure: boolean
  readonly isPrivate?: boolean
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export function formFrame(frame: FormFrame): Answer {
  const { isSecure, isPrivate, status, headers } = frame
  return raw(document(frame).toString(), {
    contentType: 'text/html; charset=utf-8',
    ...(status !== undefined && { status }),
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': policyOf(frame),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      ...(isSecure && { 'strict-transport-security': 'max-age=31536000' }),
      ...(isPrivate && { 'x-robots-tag': 'noindex, nofollow' }),
      ...headers,
    },
  })
}

/** What a provider of captchas adds: its script, its frame, and for one of them styles and requests. */
const captchaHosts = {
  turnstile: { script: 'https://challenges.cloudflare.com', style: '', connect: '' },
  hcaptcha: {
    ...{ script: 'https://hcaptcha.com https://*.hcaptcha.com', style: 'https://hcaptcha.com https://*.hcaptcha.com' },
    connect: 'https://hcaptcha.com https://*.hcaptcha.com',
  },
} as const

function policyOf({ framedBy = [], captcha }: FormFrame): string {
  const hosts = captcha ? captchaHosts[captcha.provider] : undefined
  const directive = (name: string, ...sources: readonly (string | undefined)[]): string => [name, ...sources.filter(Boolean)].join(' ')
  return [
    "default-src 'none'",
    directive('script-src', "'self'", hosts?.script),
    directive('style-src', "'self'", hosts?.style),
    "img-src 'self' https:",
    "font-src 'self'",
    directive('connect-src', "'self'", hosts?.connect),
    ...(hosts ? [directive('frame-src', hosts.script)] : []),
    ...["form-action 'self'", "base-uri 'none'", "object-src 'none'"],
    framedBy.length === 0 ? 'frame-ancestors *' : directive('frame-ancestors', "'self'", ...framedBy),
    ...(hosts ? [] : ["require-trusted-types-for 'script'", "trusted-types 'none'"]),
  ].join('; ')
}

const captchaScripts = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js',
} as const

function document({ locale, words, title, theme, mode, letterhead, sheet, captcha }: FormFrame): Html {
  const scheme = mode === 'auto' ? 'light dark' : mode
  // where the words around the form are in another language than the form, they say so
  const own = words.lang === locale.split('-')[0] ? html`` : html`lang="${words.lang}" dir="${directionOf(words.lang)}"`
  return html`<!doctype html>
    <html lang="${locale}" dir="${directionOf(locale)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="${scheme}" />
        <title>${title}</title>
        <link rel="icon" href="${formIcon.path}" type="image/svg+xml" />
        <link rel="stylesheet" href="${formStyle.path}" />
        <link rel="stylesheet" href="${theme}" />
        ${captcha && html`<script src="${captchaScripts[captcha.provider]}" async defer></script>`}
      </head>
      <body>
        <div class="pf">
          <a class="skip" href="#sheet" ${own}>${words.skip}</a>
          <div class="frame">
            <header class="letterhead"><div class="inner">${letterhead}</div></header>
            <main class="sheet" id="sheet" tabindex="-1"><div class="inner">${sheet}</div></main>
            <footer class="footer" ${own}><span>${words.by}</span></footer>
          </div>
        </div>
      </body>
    </html>`
}
