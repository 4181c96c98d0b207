/** The frame of every page for people: head, header, content, footer, and the headers that keep a browser safe. */
import type { Answer } from '../../operation/answer.ts'
import { raw } from '../../operation/answer.ts'
import { assetPaths } from './assets.ts'
import { html, type Html } from './html.ts'
import { variesByLanguage, type Language } from './language.ts'
import { wordsIn, type PageWords } from '../words/words-for.ts'

/** Who is signed in, as the header of a page shows it. */
export interface Visitor {
  readonly email: string
  /** The token that every form of this session carries. */
  readonly csrfToken: string
}

/** A page before it is rendered. */
export interface Page {
  /** Shown in the browser's tab, in front of the name of the product. */
  readonly title: string
  readonly content: Html
  /** Lists need room; a question with one answer is a card in the middle. */
  readonly width?: 'card' | 'wide'
  readonly visitor?: Visitor | undefined
  /** The entry of the header's navigation that this page belongs to. */
  readonly section?: Section
  /** The page uses passkeys, which need a script. */
  readonly hasScript?: boolean
  /** The page shows something in a frame, from this service alone. */
  readonly hasFrames?: boolean
  /** Another origin that forms of this page may lead to; browsers look at redirects too. */
  readonly formAction?: string
  /** The page stands on the way of an application, which may have opened a window for it and waits for what comes back there. */
  readonly keepsOpener?: boolean
  /** The language that its reader asked for; left out where the page is English for everybody. */
  readonly lang?: Language
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export type Section = 'organizations' | 'integrations' | 'account'

const sections = ['organizations', 'integrations', 'account'] as const satisfies readonly Section[]

/** A page as an answer: never stored, never framed, and with nothing that is not its own. */
export function page(wanted: Page): Answer {
  const { status, headers, lang } = wanted
  const vary = [headers?.['vary'], lang && variesByLanguage].filter((part) => part !== undefined).join(', ')
  return raw(document(wanted).toString(), {
    contentType: 'text/html; charset=utf-8',
    ...(status !== undefined && { status }),
    headers: { ...safety(wanted), 'content-language': lang ?? 'en', ...headers, ...(vary !== '' && { vary }) },
  })
}

const safety = ({ hasScript, hasFrames, formAction, keepsOpener }: Page): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(hasScript ? ["script-src 'self'"] : []),
    ...(hasFrames ? ["frame-src 'self'"] : []),
    `form-action 'self'${formAction === undefined ? '' : ` ${formAction}`}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  ...(!keepsOpener && { 'cross-origin-opener-policy': 'same-origin' }),
  // the origin of a form must be sent to ourselves, and nothing to any other site: links hold secrets
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'x-robots-tag': 'noindex, nofollow',
})

function document({ title, content, width = 'card', visitor, section, hasScript, lang = 'en' }: Page): Html {
  const words = wordsIn(lang)
  return html`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} – Postern</title>
        <link rel="icon" href="${assetPaths.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assetPaths.style}" />
        ${hasScript === true && html`<script src="${assetPaths.script}" defer></script>`}
      </head>
      <body class="${width}">
        <a class="skip" href="#content">${words.skip}</a>
        <header>
          <div class="bar">${visitor ? signedIn(visitor, section, words) : brand}</div>
        </header>
        <main id="content">${content}</main>
      </body>
    </html>`
}

const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
  <path d="M7 27V14a9 9 0 0 1 18 0v13" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="m11.5 16.5 4.5 4 4.5-4" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
  <path d="M3.5 27h25" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
</svg>`

const brand = html`<span class="brand">${mark}Postern</span>`

const signedIn = ({ email, csrfToken }: Visitor, section: Section | undefined, words: PageWords): Html =>
  html`<a class="brand" href="/organizations">${mark}Postern</a>
    <nav aria-label="${words.main}">
      ${sections.map((name) => html`<a href="/${name}" ${name === section && html`aria-current="page"`}>${words[name]}</a>`)}
    </nav>
    <form class="leave" method="post" action="/sign-out">
      <span class="who">${email}</span>
      <input type="hidden" name="csrf" value="${csrfToken}" />
      <button class="quiet">${words.signOut}</button>
    </form>`
