/** Responses to requests for files of sites: file, encoding, range and headers (RFC 9110). Independent of connections. */
import { joined, type Bytes } from '#store/kv.ts'
import { contentRowBytes, readContent, type ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { fileType, isPage } from '../deploys/content-types.ts'
import { isRuleFile } from '../deploys/site-path.ts'
import { siteBlobs, type SiteBlob } from '../site.ts'
import { acceptedEncoding, isNotModified, rangeOf } from './conditions.ts'
import { findFile, type Found } from './find-file.ts'
import { headersFor } from './header-rules.ts'
import { statePage } from './neutral-pages.ts'
import { isRedirect, pathOf, withQuery, type Redirect } from './redirects.ts'
import type { SiteAnswer } from './site-answer.ts'
import { decoded, stepFrom } from './site-step.ts'
import type { ServedDeploy, ServedFile, SiteView } from './site-views.ts'
import { WeighedCache } from './weighed-cache.ts'

/** The parts of a request that determine its response. */
export interface SiteRequest {
  readonly method: string
  /** In lower case, without a port. */
  readonly host: string
  /** Path and query as sent. */
  readonly target: string
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly ifRange: string | undefined
  readonly range: string | undefined
}

/** Limit for contents in memory, and separately for responses, which mostly share the same contents. */
const maxHotBytes = 24 * 1_048_576
/** Approximate size of a response without its body. */
const answerWeight = 600
/** Requests with longer targets or encodings are not cached. */
const maxKnownText = 200

export class SiteAnswers {
  readonly #database: Database
  readonly #hot = new WeighedCache<Bytes>(maxHotBytes)
  readonly #known = new WeighedCache<SiteAnswer>(maxHotBytes)

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the cached response to the same request, if it was a whole file; deploys never change. Otherwise returns undefined. */
  known(view: SiteView, request: SiteRequest): SiteAnswer | undefined {
    const key = keyOf(view, request)
    return key === undefined ? undefined : this.#known.get(key)
  }

  async answer(view: SiteView, request: SiteRequest): Promise<SiteAnswer> {
    const answer = await this.#answer(view, request)
    const key = keyOf(view, request)
    if (key !== undefined && answer.status === 200 && answer.body instanceof Uint8Array)
      this.#known.set(key, answer, answer.body.length + answerWeight)
    return answer
  }

  async #answer(view: SiteView, request: SiteRequest): Promise<SiteAnswer> {
    const { method, target } = request
    if (view.state !== 'live') return statePage(view.state, method)
    if (method !== 'GET' && method !== 'HEAD') return statePage(405, method)
    const { deploy } = view
    if (!deploy) return statePage(404, method)
    const [encoded = '/', ...query] = target.split('?')
    const path = decoded(encoded)
    if (path === undefined) return statePage(400, method)
    const search = query.length === 0 ? '' : `?${query.join('?')}`
    const step = stepFrom({ host: request.host, redirects: deploy.redirects, fileAt: (one) => fileAt(deploy, one) }, path)
    if (!step) return this.#missing(view, deploy, path, request)
    if ('file' in step) return this.#file(view, deploy, path, step.file, request)
    if ('redirect' in step) return redirect(301, `/${step.redirect.split('/').map(encodeURIComponent).join('/')}${search}`)
    return this.#byRule(view, deploy, path, step.rule, search, request)
  }

  async #byRule(
    view: SiteView,
    deploy: ServedDeploy,
    path: string,
    { to, status }: Redirect,
    search: string,
    request: SiteRequest,
  ): Promise<SiteAnswer> {
    if (isRedirect(status)) return redirect(status, withQuery(to, search))
    const other = fileAt(deploy, decoded(pathOf(to)) ?? '/')
    if (!other || !('file' in other)) return this.#missing(view, deploy, path, request)
    return this.#file(view, deploy, path, other.file, request, status)
  }

  #missing(view: SiteView, deploy: ServedDeploy, path: string, request: SiteRequest): Promise<SiteAnswer> | SiteAnswer {
    if (!deploy.files.has('404.html')) return statePage(404, request.method)
    return this.#file(view, deploy, path, '404.html', request, 404)
  }

  async #file(
    { organizationId, isPreview }: SiteView,
    deploy: ServedDeploy,
    path: string,
    name: string,
    request: SiteRequest,
    status = 200,
  ): Promise<SiteAnswer> {
    const file = deploy.files.get(name)
    const blob = file && (await this.#blob(organizationId, file))
    if (!file || !blob) return statePage(404, request.method)
    const size = blob.size + Buffer.byteLength(blob.suffix)
    const hasVariants = blob.brotli !== null || blob.gzip !== null
    const wantsRange = request.range !== undefined && status === 200 && request.method === 'GET' // for no other method (RFC 9110 §14.2)
    const encoding = hasVariants && !wantsRange ? acceptedEncoding(request.acceptEncoding, blob) : undefined
    const tag = `"${blob.id.slice(0, 32)}${blob.suffix === '' ? '' : '-f'}${encoding === undefined ? '' : `-${encoding}`}"`
    const headers: Record<string, string | number> = {
      'content-type': fileType(name).type,
      'cache-control': isImmutable(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=0, must-revalidate',
      'accept-ranges': 'bytes',
      etag: tag,
      'x-content-type-options': 'nosniff',
    }
    if (hasVariants) headers['vary'] = 'Accept-Encoding'
    if (isPreview) headers['x-robots-tag'] = 'noindex'
    for (const [field, value] of headersFor(deploy.headers, path) ?? []) headers[field] = value
    if (status === 200 && isNotModified(request.ifNoneMatch, tag)) return { status: 304, headers, body: undefined }
    const ref = encoding === 'br' ? blob.brotli : encoding === 'gzip' ? blob.gzip : null
    if (ref && encoding !== undefined) {
      headers['content-encoding'] = encoding
      headers['content-length'] = ref.size
      return { status, headers, body: request.method === 'HEAD' ? undefined : await this.#octets(organizationId, ref, '') }
    }
    const span = wantsRange && (request.ifRange === undefined || request.ifRange === tag) ? rangeOf(request.range, size) : undefined
    if (span === 'beyond') {
      headers['content-range'] = `bytes */${size}`
      headers['content-length'] = 0
      return { status: 416, headers, body: undefined }
    }
    headers['content-length'] = span ? span.end - span.start : size
    if (span) headers['content-range'] = `bytes ${span.start}-${span.end - 1}/${size}`
    const body = request.method === 'HEAD' ? undefined : await this.#octets(organizationId, blob.content, blob.suffix, span)
    return { status: span ? 206 : status, headers, body }
  }

  async #blob(organizationId: string, file: ServedFile): Promise<SiteBlob | undefined> {
    if (file.blob) return file.blob
    file.blob = (await this.#database.get(siteBlobs, { organizationId }, file.sha256))?.record
    return file.blob
  }

  /** Returns small content as one buffer, larger content as a stream. */
  async #octets(
    organizationId: string,
    ref: ContentRef,
    suffix: string,
    span?: { readonly start: number; readonly end: number },
  ): Promise<Bytes | AsyncIterable<Bytes>> {
    if (ref.size + suffix.length > contentRowBytes) return pieces(this.#database, organizationId, ref, suffix, span)
    let whole = this.#hot.get(ref.id)
    if (!whole) {
      const read: Bytes[] = []
      for await (const piece of readContent(this.#database, organizationId, ref)) read.push(piece)
      whole = joined(suffix === '' ? read : [...read, Buffer.from(suffix)])
      this.#hot.set(ref.id, whole, whole.length + 200)
    }
    return span ? whole.subarray(span.start, span.end) : whole
  }
}

async function* pieces(
  database: Database,
  organizationId: string,
  ref: ContentRef,
  suffix: string,
  { start, end }: { readonly start: number; readonly end: number } = { start: 0, end: Infinity },
): AsyncGenerator<Bytes> {
  let at = 0
  const cut = (piece: Bytes): Bytes => {
    const from = at
    at += piece.length
    return piece.subarray(Math.max(0, start - from), Math.max(0, end - from))
  }
  if (start < ref.size) {
    const row = contentRowOf(start)
    at = row * contentRowBytes
    for await (const piece of readContent(database, organizationId, ref, row)) {
      if (at >= end) return
      const part = cut(piece)
      if (part.length > 0) yield part
    }
  }
  at = ref.size
  const last = cut(Buffer.from(suffix))
  if (last.length > 0) yield last
}

/** Returns the cache key of a request; undefined if its response is not cacheable. */
function keyOf({ state, deploy, isPreview }: SiteView, request: SiteRequest): string | undefined {
  const { method, host, target, acceptEncoding = '', ifNoneMatch, range } = request
  if (state !== 'live' || !deploy || method !== 'GET' || ifNoneMatch !== undefined || range !== undefined) return undefined
  if (target.length + acceptEncoding.length > maxKnownText || target.includes('?')) return undefined
  return `${isPreview ? 'preview ' : ''}${deploy.id} ${host} ${acceptEncoding}\n${target}`
}

const contentRowOf = (offset: number): number => Math.floor(offset / contentRowBytes)

function fileAt(deploy: ServedDeploy, path: string): Found | undefined {
  const name = path.slice(1)
  return isRuleFile(name) ? undefined : findFile(name, (file) => deploy.files.has(file))
}

const redirect = (status: number, location: string): SiteAnswer => ({
  status,
  headers: { location, 'content-length': 0, 'cache-control': 'public, max-age=0, must-revalidate', 'x-content-type-options': 'nosniff' },
  body: undefined,
})

const digestInName = /[.-](?=[0-9a-f]*\d)[0-9a-f]{8,64}\.[a-z0-9.]+$/
const builtFolder = /(?:^|\/)(?:assets|_astro|_nuxt|_next\/static|immutable)\/(?:.*[.-])?(?=[\w-]*[0-9A-Z])[\w-]{8,64}\.[a-z0-9.]+$/

/** Matches names that build tools derive from the content. */
const isImmutable = (name: string): boolean => !isPage(name) && (digestInName.test(name) || builtFolder.test(name))
