/** The frame of every form page: letterhead, sheet and footer, and the security headers. */
import type { Settings, Theme } from '#core/forms/definition/definition.ts'
import { raw, type Answer } from '../../operation/answer.ts'
import { html, type Html, type HtmlValue } from '../layout/html.ts'
import { formIcon, formStyle } from './form-assets.ts'
import { formScript } from './scripts/built-scripts.ts'
import { type FormTexts, directionOf } from './texts/texts-for.ts'

/** Links of the operator for visitors; null for none. */
export interface ServiceLinks {
  readonly privacyUrl: string | null
  readonly reportUrl: string | null
}

export interface FormFrame {
  readonly links?: ServiceLinks | undefined
  /** Language of the form's texts. */
  readonly locale: string
  readonly texts: FormTexts
  readonly title: string
  /** Address of the theme stylesheet. */
  readonly theme: string
  readonly mode: Theme['mode']
  readonly letterhead: Html
  readonly sheet: Html
  /** The public id of the form. */
  readonly pageOf?: string
  readonly embedding?: Embedding | undefined
  /** Other languages of the form. */
  readonly languages?: Html | undefined
  /** Origins whose pages may show it in a frame; empty allows all. */
  readonly framedBy?: readonly string[]
  readonly captcha?: Settings['captcha']
  /** The address of forms uses https. */
  readonly isSecure: boolean
  readonly isPrivate?: boolean
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Display of a form on a page of another site. */
export interface Embedding {
  readonly hasTitle: boolean
  /** The page shows through the background. */
  readonly isTransparent: boolean
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

/** Sources that a captcha provider needs: its script and frame, and for hCaptcha styles and requests. */
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

function document(frame: FormFrame): Html {
  const { locale, title, theme, mode, captcha, embedding } = frame
  const script = frame.pageOf === undefined ? undefined : formScript()
  const scheme = mode === 'auto' ? 'light dark' : mode
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
        ${script !== undefined && html`<script type="module" src="${script}" blocking="render"></script>`}
        ${captcha && html`<script src="${captchaScripts[captcha.provider]}" async defer></script>`}
      </head>
      <body>
        ${embedding ? embedded(frame, embedding) : whole(frame)}
      </body>
    </html>`
}

const pageFacts = ({ pageOf, framedBy = [] }: FormFrame): HtmlValue =>
  pageOf !== undefined && html`data-page-of="${pageOf}" data-origins="${JSON.stringify(framedBy)}"`

/** Marks the language of the surrounding texts if it differs from the language of the form. */
export const ownLanguage = ({ locale, texts }: Pick<FormFrame, 'locale' | 'texts'>): Html =>
  texts.lang === locale.split('-')[0] ? html`` : html`lang="${texts.lang}" dir="${directionOf(texts.lang)}"`

/** Returns the footer of the service. Links open in a new window, so that answers are not lost. */
function service({ texts, links }: FormFrame): Html {
  const link = (address: string | null | undefined, text: string): HtmlValue =>
    typeof address === 'string' && html`<a href="${address}" target="_blank" rel="noopener">${text}</a>`
  return html`<span class="service"
    ><span>${texts.by}</span>${link(links?.privacyUrl, texts.privacy)}${link(links?.reportUrl, texts.report)}</span
  >`
}

function whole(frame: FormFrame): Html {
  const { texts, letterhead, sheet, languages } = frame
  const own = ownLanguage(frame)
  return html`<div class="pf" ${pageFacts(frame)}>
    <a class="skip" href="#sheet" ${own}>${texts.skip}</a>
    <div class="frame">
      <header class="letterhead"><div class="inner">${letterhead}</div></header>
      <main class="sheet" id="sheet" tabindex="-1"><div class="inner">${sheet}</div></main>
      <footer class="footer" ${own}>${service(frame)}${languages}</footer>
    </div>
  </div>`
}

/** Returns the same page without a letterhead, for a frame of another page. */
function embedded(frame: FormFrame, { hasTitle, isTransparent }: Embedding): Html {
  const { letterhead, sheet } = frame
  const classes = `${hasTitle ? '' : 'untitled'} ${isTransparent ? '' : 'apart'}`
  return html`<div class="pf embedded ${classes}" ${pageFacts(frame)}>
    <main>
      <div class="head">${letterhead}</div>
      <div class="sheet"><div class="inner">${sheet}</div></div>
    </main>
    <footer class="footer" ${ownLanguage(frame)}>${service(frame)}</footer>
  </div>`
}
