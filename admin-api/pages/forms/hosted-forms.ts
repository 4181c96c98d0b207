/**
 * Published forms as pages under `/f/`: form, submission, thank-you page, stylesheets and scripts. They use the same core as the public
 * API.
 */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import { anyOrigin } from '#core/visitors/web-origin.ts'
import { streamed } from '../../bodies/body-stream.ts'
import { maxPageBytes, submissionSeconds } from '../../bodies/submission-body.ts'
import type { Cors } from '../../credentials/credentials.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { formAssets } from './form-assets.ts'
import { FormPages, nothing, type HostedFormsCore } from './form-pages.ts'
import { formRefusalPage } from './form-refusal.ts'
import { builtScript, embedScript, type BuiltScript } from './scripts/built-scripts.ts'

const params = z.strictObject({ public_id: z.string().max(64) })
const facts = {
  scope: 'none',
  ...{ tags: ['pages'], hiddenFromOpenApi: true, query: z.looseObject({}) },
  ...{ errorRenderer: formRefusalPage, response: media('text/html') },
} as const
/** Scripts of any page may read public content. The form decides which pages may send. */
const cors: Cors = { requestHeaders: ['content-type'], allowedOrigin: anyOrigin }
const forever = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' } as const
/** Ten minutes, long enough for a visit. */
const shortly = { 'cache-control': 'public, max-age=600', 'x-content-type-options': 'nosniff' } as const
const multipart = z.record(z.string(), z.string())

export function hostedFormOperations(core: HostedFormsCore): readonly Operation[] {
  const pages = new FormPages(core)
  return [...formOperations(pages), ...fileOperations(pages)]
}

const formOperations = (pages: FormPages): readonly Operation[] => [
  operation({
    ...{ ...facts, method: 'GET', path: '/f/{public_id}', operationId: 'readFormPage', params },
    summary: 'Read a published form as a page',
    handle: ({ params: { public_id: publicId }, query, headers }) => pages.read(publicId, query, headers),
  }),
  operation({
    ...{
      ...facts,
      method: 'POST',
      path: '/f/{public_id}',
      operationId: 'sendFormPage',
      summary: 'Send a form from its page',
      params,
      cors,
    },
    ...{ errors: ['storage_full'], maxBodyBytes: maxPageBytes, deadlineSeconds: submissionSeconds },
    errorRenderer: (refusal, headers) => (headers.accept?.startsWith('application/json') ? undefined : formRefusalPage(refusal, headers)),
    body: streamed({ 'multipart/form-data': multipart, 'application/x-www-form-urlencoded': multipart }),
    handle: ({ params: { public_id: publicId }, query, ...sent }) => pages.send(publicId, query, sent),
  }),
  operation({
    ...{ ...facts, method: 'GET', path: '/f/{public_id}/thanks', operationId: 'readFormThanks', params },
    summary: 'Read the thank-you page of a form',
    handle: ({ params: { public_id: publicId }, query, headers }) => pages.thanks(publicId, query, headers),
  }),
  operation({
    ...{ ...facts, method: 'GET', path: '/f/{public_id}/fragment', operationId: 'readFormFragment', params, cors },
    ...{ summary: 'Read a published form for the document of another site', errorRenderer: () => undefined, response: fragment },
    handle: ({ params: { public_id: publicId }, query, headers }) => pages.fragment(publicId, query, headers),
  }),
]

const fragment = z.object({
  ...{ html: z.string(), title: z.string(), styles: z.array(z.string()), script: z.string(), isFramed: z.boolean() },
})

const fileOperations = (pages: FormPages): readonly Operation[] => [
  operation({
    ...{ ...facts, method: 'GET', path: '/f/{public_id}/{file}', operationId: 'getFormTheme', summary: 'Read the theme of a form' },
    params: params.extend({ file: z.string().max(64) }),
    handle: ({ params: { public_id: publicId, file } }) => pages.theme(publicId, file),
  }),
  operation({
    ...{ ...facts, method: 'GET', path: '/f/assets/{file}', operationId: 'getFormAsset', summary: 'Read a stylesheet or script of forms' },
    // caches keep one copy for all sites
    allowsAnyOrigin: true,
    params: z.strictObject({ file: z.string().max(64) }),
    async handle({ params: { file }, headers }) {
      const script = await builtScript(file, takesGzip(headers))
      if (script) return scriptAnswer(script, forever)
      const found = formAssets.get(`/f/assets/${file}`)
      if (!found) throw nothing()
      return raw(found.bytes, { contentType: found.contentType, headers: forever })
    },
  }),
  operation({
    ...{ ...facts, method: 'GET', path: '/embed.js', operationId: 'getFormEmbedScript' },
    summary: 'Read the script that embeds forms in pages of other sites',
    async handle({ headers }) {
      const script = await embedScript(takesGzip(headers))
      if (!script) throw nothing()
      return scriptAnswer(script, shortly)
    },
  }),
]

const takesGzip = (headers: IncomingHttpHeaders): boolean => /\bgzip\b/.test(headers['accept-encoding'] ?? '')

const scriptAnswer = ({ bytes, isCompressed }: BuiltScript, headers: Readonly<Record<string, string>>): Answer =>
  raw(bytes, {
    contentType: 'text/javascript; charset=utf-8',
    headers: { ...headers, vary: 'Accept-Encoding', ...(isCompressed && { 'content-encoding': 'gzip' }) },
  })
