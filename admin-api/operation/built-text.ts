/** A text that is the same for all clients. It is built and compressed once, at the first request, with an ETag (RFC 9110 §8.8.3). */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { raw, type Answer } from './answer.ts'

/** In order of preference. */
const encodings = ['br', 'gzip', 'identity'] as const

type Encoding = (typeof encodings)[number]
type Forms = Readonly<Record<Encoding, { readonly bytes: Uint8Array; readonly tag: string }>>

/** Higher levels take seconds for a megabyte. */
const brotliQuality = 6
const compressors: Readonly<Record<Encoding, (bytes: Uint8Array) => Promise<Uint8Array> | Uint8Array>> = {
  // runs in the thread pool
  br: async (bytes) => await promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: async (bytes) => await promisify(gzip)(bytes),
  identity: (bytes) => bytes,
}

/** Returns whether `If-None-Match` contains the tag (RFC 9110 §13.1.2). */
export const hasTag = (known: string, tag: string): boolean =>
  known === '*' || known.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)

export class BuiltText {
  readonly #contentType: string
  readonly #build: () => Promise<string>
  #forms: Promise<Forms> | undefined

  constructor(contentType: string, build: () => Promise<string>) {
    this.#contentType = contentType
    this.#build = build
  }

  /** Returns the text in the best encoding that the client accepts, or 304 if the client has it already. */
  async answer({ 'accept-encoding': accepted = '', 'if-none-match': known = '' }: IncomingHttpHeaders): Promise<Answer> {
    this.#forms ??= this.#make()
    const forms = await this.#forms.catch((error: unknown) => {
      this.#forms = undefined
      throw error
    })
    const encoding = encodings.find((each) => new RegExp(`\\b${each}\\b(?! *; *q=0(?:\\.0*)?(?:[, ]|$))`).test(accepted)) ?? 'identity'
    const { bytes, tag } = forms[encoding]
    const headers = {
      ...{ vary: 'Accept-Encoding', etag: tag, 'cache-control': 'no-cache' },
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    }
    if (hasTag(known, tag)) return raw('', { status: 304, contentType: this.#contentType, headers })
    return raw(bytes, { contentType: this.#contentType, headers })
  }

  async #make(): Promise<Forms> {
    const bytes = Buffer.from(await this.#build())
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
    const made = encodings.map(async (each) => [each, { bytes: await compressors[each](bytes), tag: `"${hash}-${each}"` }] as const)
    return Object.fromEntries(await Promise.all(made)) as unknown as Forms
  }
}
