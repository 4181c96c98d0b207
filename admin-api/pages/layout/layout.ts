/** The frame of every page for people: head, header, content, footer, and the security headers. */
import type { Answer } from '../../operation/answer.ts'
import { raw } from '../../operation/answer.ts'
import { assetPaths } from './assets.ts'
import { html, type Html } from './html.ts'
import { variesByLanguage, type Language } from './language.ts'
import { textsIn, type PageTexts } from '../texts/texts-for.ts'

/** The signed-in user in the header of a page. */
export interface Visitor {
  readonly email: string
  /** The token in every form of this session. */
  readonly csrfToken: string
}

/** A page before it is rendered. */
export interface Page {
  /** Title in the browser's tab, before the name of the product. */
  readonly title: string
  readonly content: Html
  /** `wide` for lists; `card` for a question with one answer. */
  readonly width?: 'card' | 'wide'
  /** The page is a letter: the head is at its left, above the content on phones. Replaces `width` and the navigation. */
  readonly letterhead?: Letterhead
  readonly visitor?: Visitor | undefined
  /** The entry of the navigation that this page belongs to. */
  readonly section?: Section
  /** The page uses passkeys, which need a script. */
  readonly hasScript?: boolean
  /** The page contains a frame of this service. */
  readonly hasFrames?: boolean
  /** Another origin that forms of this page may lead to; browsers also check redirects. */
  readonly formAction?: string
  /** The page is part of an application's sign-in. The application may have opened it in a window and may wait for its result there. */
  readonly keepsOpener?: boolean
  /** The language of the reader; undefined if the page is always in English. */
  readonly lang?: Language
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The head of a letter page: the sender, the heading, and facts for the decision. */
export interface Letterhead {
  /** The organization that speaks; the service by default. */
  readonly from?: string
  readonly heading: Html | string
  readonly lead?: Html | string | undefined
  /** Names and values. */
  readonly facts?: readonly (readonly [name: string, value: Html | string])[]
}

export type Section = 'organizations' | 'integrations' | 'account'

const sections = [
  ['organizations', '/organizations'],
  ['integrations', '/integrations'],
  ['account', '/settings/you'],
] as const satisfies readonly (readonly [Section, address: string])[]

/** Returns a page that is never cached and never framed, and that loads only its own content. */
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
  // forms must send their origin to this service, and no other site may receive links, since links contain secrets
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'x-robots-tag': 'noindex, nofollow',
})

function document({ title, content, width = 'card', letterhead, visitor, section, hasScript, lang = 'en' }: Page): Html {
  const texts = textsIn(lang)
  const header = letterhead
    ? headOf(letterhead, texts)
    : html`<header>
        <div class="bar">${visitor ? signedIn(visitor, section, texts) : brand}</div>
      </header>`
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
      <body class="${letterhead ? 'letter' : width}">
        <a class="skip" href="#content">${texts.skip}</a>
        ${header}
        <main id="content" tabindex="-1">${content}</main>
      </body>
    </html>`
}

const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
  <path d="M7 27V14a9 9 0 0 1 18 0v13" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
  <path d="m11.5 16.5 4.5 4 4.5-4" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" />
  <path d="M3.5 27h25" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
</svg>`

const brand = html`<span class="brand">${mark}Postern</span>`

const signedIn = ({ email, csrfToken }: Visitor, section: Section | undefined, texts: PageTexts): Html =>
  html`<a class="brand" href="/organizations">${mark}Postern</a>
    <nav aria-label="${texts.main}">
      ${sections.map(([name, at]) => html`<a href="${at}" ${name === section && html`aria-current="page"`}>${texts[name]}</a>`)}
    </nav>
    <form class="leave" method="post" action="/sign-out">
      <span class="who">${email}</span>
      <input type="hidden" name="csrf" value="${csrfToken}" />
      <button class="quiet">${texts.signOut}</button>
    </form>`

const arch = html`<svg class="arch" viewBox="0 0 26 29" aria-hidden="true" focusable="false">
  <path d="M0 29V13a13 13 0 0 1 26 0v16z" fill="var(--door)" />
  <path d="M8 19.5h10" stroke="#fff" stroke-width="3" />
</svg>`

const headOf = ({ from, heading, lead, facts = [] }: Letterhead, { aboutService }: PageTexts): Html =>
  html`<header class="letterhead">
    <p class="from">${from ?? html`${arch}Postern`}</p>
    <h1>${heading}</h1>
    ${lead !== undefined && html`<p>${lead}</p>`}
    ${
      facts.length > 0 &&
      html`<dl>
        ${facts.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        )}
      </dl>`
    }
    <p class="about"><a href="/docs">${aboutService}</a></p>
  </header>`
