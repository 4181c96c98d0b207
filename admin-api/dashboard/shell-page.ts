/** The HTML page that every screen of the dashboard starts with: style sheet, script and the signed-in user. */
import { join } from 'node:path'
import { hasOwnFile, ownFile } from '#config/own-files.ts'
import type { Answer } from '../operation/answer.ts'
import { raw } from '../operation/answer.ts'
import { assetPaths } from '../pages/layout/assets.ts'
import { html } from '../pages/layout/html.ts'
import { page } from '../pages/layout/layout.ts'
import { builtFolder, type Manifest } from './built-files.ts'
import type { FirstAnswers } from './first-answers.ts'

/** Public URLs of the service for programs and agents, without a trailing slash. */
export interface PublicAddresses {
  readonly baseUrl: string
  readonly mcpUrl: string
  readonly submission: SubmissionAddress
}

/** Address for mail submission by SMTP: host name, STARTTLS ports and implicit TLS ports. */
export interface SubmissionAddress {
  readonly host: string
  readonly starttls: readonly number[]
  readonly tls: readonly number[]
}

/** Data for `client/app/boot.ts`. */
export interface Boot extends PublicAddresses {
  readonly email: string
  readonly csrfToken: string
  readonly organizations: readonly { readonly id: string; readonly name: string; readonly role: string }[]
  readonly confirmedForMs: number
  /** Whether the user may see and change settings of the service operator. */
  readonly isOperator: boolean
  /** Only on the page of the start screen. */
  readonly first?: FirstAnswers
}

export const dashboardAssets = '/assets/dashboard'

/** Returns undefined if the dashboard was not built. */
function readManifest(): Manifest | undefined {
  const file = join(builtFolder, 'manifest.json')
  return hasOwnFile(file) ? (JSON.parse(ownFile(file).toString('utf8')) as Manifest) : undefined
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

export function shellPage(boot: Boot, headers: Readonly<Record<string, string>>): Answer {
  const manifest = readManifest()
  if (!manifest) return notBuilt
  const at = (name: string): string => `${dashboardAssets}/${name}`
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Postern</title>
        <link rel="icon" href="${assetPaths.icon}" type="image/svg+xml" />
        <script src="${at(manifest.theme)}"></script>
        <link rel="stylesheet" href="${at(manifest.style)}" />
        <script src="${at(manifest.script)}" type="module"></script>
        ${[...manifest.preload, ...(boot.first ? manifest.start : [])].map((name) => html`<link rel="modulepreload" href="${at(name)}" />`)}
      </head>
      <body>
        <div id="app" data-boot="${JSON.stringify(boot)}">
          <noscript>
            <main class="state">
              <h1>Postern</h1>
              <p>The dashboard needs JavaScript. Your organizations and your account work without.</p>
              <p><a href="/organizations">Organizations</a></p>
            </main>
          </noscript>
        </div>
      </body>
    </html>`
  return raw(document.toString(), {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'x-robots-tag': 'noindex, nofollow',
      ...headers,
    },
  })
}

const notBuilt = page({
  title: 'The dashboard is not built',
  status: 503,
  content: html`<div class="sheet">
    <h1>The dashboard is not built</h1>
    <p>Run <code>npm run prepare</code> in the folder of Postern and load this page again. Everything else works.</p>
    <a class="button" href="/organizations">Organizations</a>
  </div>`,
})
