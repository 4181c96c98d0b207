/** Serves the documentation: pages and their Markdown under `/docs`, and the lists for language models. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { BuiltText, hasTag } from '../operation/built-text.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { nothingPage } from '../pages/layout/refusal-page.ts'
import { builtDoc, nameOf, readDocsManifest } from './built-docs.ts'

const facts = { method: 'GET', tags: ['pages'], scope: 'none', bypassesLoadShedding: true, hiddenFromOpenApi: true } as const
const isShown = { ...facts, errorRenderer: nothingPage, response: media('text/html') } as const

/** Allows only scripts and styles of the site. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const safety = {
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  // every installation has the same text
  'x-robots-tag': 'noindex',
}

export function docsOperations(baseUrl: string): readonly Operation[] {
  return [start, page, pageBelow, file, llms('/llms.txt', 'getLlms', baseUrl), llms('/llms-full.txt', 'getLlmsFull', baseUrl)]
}

const start = operation({
  ...isShown,
  path: '/docs',
  operationId: 'showDocs',
  summary: 'Show the documentation',
  handle: ({ headers }) => documentAt('', headers),
})

const name = z.string().max(100)

const page = operation({
  ...isShown,
  path: '/docs/{page}',
  operationId: 'showDocsPage',
  summary: 'Show a chapter of the documentation',
  params: z.strictObject({ page: name }),
  handle: ({ params, headers }) => documentAt(params.page, headers),
})

const pageBelow = operation({
  ...isShown,
  path: '/docs/{folder}/{page}',
  operationId: 'showDocsPageBelow',
  summary: 'Show a guide or an error of the documentation',
  params: z.strictObject({ folder: name, page: name }),
  handle: ({ params, headers }) => documentAt(`${params.folder}/${params.page}`, headers),
})

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const file = operation({
  ...facts,
  path: '/docs/files/{file}',
  operationId: 'getDocsFile',
  summary: 'Read a script, style or image of the documentation',
  params: z.strictObject({ file: name }),
  response: media('text/javascript'),
  handle({ params, headers }) {
    if (!readDocsManifest()?.files.includes(params.file)) throw nothing()
    const contentType = /-[A-Za-z0-9]+\.(js|css|svg)$/.exec(params.file)?.[1]
    // a program keeps its file name when its content changes
    if (contentType === undefined) return contentOf(params.file, headers, 'text/plain; charset=utf-8', { 'cache-control': 'no-cache' })
    return contentOf(params.file, headers, types[contentType] ?? '', { 'cache-control': 'public, max-age=31536000, immutable' })
  },
})

/** Returns a chapter as a page, or as Markdown for a path with `.md`. */
function documentAt(path: string, headers: IncomingHttpHeaders): Promise<Answer> | Answer {
  const manifest = readDocsManifest()
  if (!manifest) throw new Refusal('feature_unavailable', 'The documentation is not built. Run npm run prepare in the folder of Postern.')
  const fresh = { 'cache-control': 'no-cache' }
  const chapter = path.replace(/\.md$/, '')
  if (manifest.pages.includes(path)) return contentOf(nameOf(path, 'html'), headers, 'text/html; charset=utf-8', { ...safety, ...fresh })
  if (path !== chapter && manifest.sources.includes(chapter))
    return contentOf(nameOf(chapter, 'md'), headers, 'text/markdown; charset=utf-8', fresh)
  throw nothing()
}

const nothing = (): Refusal => new Refusal('not_found', 'This page does not exist. /docs lists all chapters.')

/** Uses full addresses, since a language model may read the text elsewhere. */
function llms(path: '/llms.txt' | '/llms-full.txt', operationId: string, baseUrl: string): Operation {
  const text = new BuiltText('text/plain; charset=utf-8', async () => {
    const built = await builtDoc(path.slice(1)).catch(() => undefined)
    if (!built) throw nothing()
    return (await built.expanded()).toString('utf8').replaceAll('](/docs/', `](${baseUrl}/docs/`)
  })
  return operation({
    ...facts,
    path,
    operationId,
    summary: 'Read the documentation as a language model does',
    response: media('text/plain'),
    handle: ({ headers }) => text.answer(headers),
  })
}

async function contentOf(
  name: string,
  { 'accept-encoding': accepted = '', 'if-none-match': known = '' }: IncomingHttpHeaders,
  contentType: string,
  own: Readonly<Record<string, string>>,
): Promise<Answer> {
  const takesGzip = /\bgzip\b/.test(accepted)
  const doc = await builtDoc(name).catch(() => {
    throw nothing()
  })
  const etag = `"${doc.hash}-${takesGzip ? 'gzip' : 'identity'}"`
  const headers = { ...own, etag, vary: 'Accept-Encoding', ...(takesGzip && { 'content-encoding': 'gzip' }) }
  if (hasTag(known, etag)) return raw('', { status: 304, contentType, headers })
  return raw(takesGzip ? doc.compressed : await doc.expanded(), { contentType, headers })
}
