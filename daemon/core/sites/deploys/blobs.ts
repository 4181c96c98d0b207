/**
 * Stores the octets of each file once by digest, together with compressed variants. Files are compressed on upload, never while serving.
 */
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Change } from '#store/change.ts'
import { Draft, readContent, type ContentRef } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { joined, type Bytes } from '#store/kv.ts'
import { invalid } from '../../refusals.ts'
import { siteBlobs, type PageFacts, type SiteBlob } from '../site.ts'

export interface BlobsOptions {
  readonly database: Database
  /** Parses a page within bounds, in steps. */
  readonly readPage: (html: string) => Promise<PageFacts>
  /** Public base URL of forms. */
  readonly formsUrl: string
}

/** Properties of the files that have these octets. */
export interface BlobTraits {
  readonly isPage: boolean
  readonly isCompressible: boolean
}

/** Larger files are served uncompressed. */
const maxCompressedFrom = 5 * 1_048_576
const minCompressedFrom = 512
/** Maximum octets of a page that reports read. */
const maxPageBytes = 1_048_576
/** Maximum ratio of compressed to original size; otherwise the variant is discarded. */
const worthwhile = 0.95

const compressions = {
  brotli: (octets: Bytes) =>
    promisify(brotliCompress)(octets, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: octets.length > 1_048_576 ? 5 : 9,
        [constants.BROTLI_PARAM_SIZE_HINT]: octets.length,
      },
    }),
  gzip: (octets: Bytes) => promisify(gzip)(octets, { level: 9 }),
}

/** A written blob, which becomes valid only with the change that `add` fills. */
export interface NewBlob {
  add(change: Change): void
  /** Discards the blob unless the change was committed. */
  settle(isTaken: boolean): Promise<void>
}

export class Blobs {
  readonly #options: BlobsOptions
  /** Serializes compression. */
  #compressing: Promise<unknown> = Promise.resolve()

  constructor(options: BlobsOptions) {
    this.#options = options
  }

  async find(organizationId: string, sha256: string): Promise<SiteBlob | undefined> {
    return (await this.#options.database.get(siteBlobs, { organizationId }, sha256))?.record
  }

  /** Stores the octets. Throws `validation_failed` if digest or size differ from the announced values. */
  async write(organizationId: string, said: Said, traits: BlobTraits, octets: AsyncIterable<Bytes>): Promise<NewBlob> {
    const draft = this.#draft(organizationId, said.sha256)
    const drafts = [draft]
    try {
      for await (const chunk of octets) {
        if (draft.size + chunk.length > said.size) throw otherSize(said)
        await draft.write(chunk)
      }
      if (draft.size !== said.size) throw otherSize(said)
      const whole = traits.isCompressible && said.size <= maxCompressedFrom ? joined(await all(draft.read())) : undefined
      const content = draft.seal(new Change())
      if (content.sha256 !== said.sha256) throw invalid([{ path: 'body', message: `has the SHA-256 ${content.sha256}` }])
      const page = traits.isPage ? await this.#page(whole ?? joined(await all(draft.read()))) : null
      const suffix = page ? this.#suffix(page) : ''
      const variants = whole && [await this.#compressed(organizationId, said, 'brotli', withSuffix(whole, suffix))]
      variants?.push(await this.#compressed(organizationId, said, 'gzip', withSuffix(whole ?? '', suffix)))
      const [brotli, gzipped] = variants ?? []
      drafts.push(...[brotli, gzipped].flatMap((variant) => variant?.draft ?? []))
      const blob: SiteBlob = {
        ...{ id: said.sha256, size: said.size, content, suffix, page },
        ...{ brotli: brotli?.ref ?? null, gzip: gzipped?.ref ?? null },
      }
      return newBlob(organizationId, blob, drafts)
    } catch (error) {
      for (const one of drafts) await one.discard()
      throw error
    }
  }

  async #page(octets: Bytes): Promise<PageFacts> {
    return this.#options.readPage(Buffer.from(octets.subarray(0, maxPageBytes)).toString('utf8'))
  }

  /** Returns the script tag that makes forms work in pages without their own form script. */
  #suffix({ needsFormScript }: PageFacts): string {
    return !needsFormScript ? '' : `<script async src="${this.#options.formsUrl}/embed.js"></script>\n`
  }

  async #compressed(
    organizationId: string,
    { sha256 }: Said,
    how: keyof typeof compressions,
    octets: Bytes,
  ): Promise<{ readonly draft: Draft; readonly ref: ContentRef } | undefined> {
    if (octets.length < minCompressedFrom) return undefined
    const turn = this.#compressing.then(() => compressions[how](octets))
    this.#compressing = turn.catch(() => undefined)
    const small = await turn
    if (small.length > octets.length * worthwhile) return undefined
    const draft = this.#draft(organizationId, sha256)
    await draft.write(small)
    return { draft, ref: draft.seal(new Change()) }
  }

  #draft(organizationId: string, sha256: string): Draft {
    return new Draft(this.#options.database, organizationId, `${blobPrefix}.${sha256}.${randomUUID()}`)
  }
}

interface Said {
  readonly sha256: string
  readonly size: number
}

const otherSize = ({ size }: Said) => invalid([{ path: 'body', message: `must have ${size} bytes, as the deploy says` }])
const withSuffix = (octets: Bytes | string, suffix: string): Bytes => Buffer.concat([Buffer.from(octets), Buffer.from(suffix)])

async function all(pieces: AsyncIterable<Bytes>): Promise<Bytes[]> {
  const list: Bytes[] = []
  for await (const piece of pieces) list.push(piece)
  return list
}

const newBlob = (organizationId: string, blob: SiteBlob, drafts: readonly Draft[]): NewBlob => ({
  add(change) {
    for (const draft of drafts) draft.seal(change)
    change.insert(siteBlobs, organizationId, blob)
  },
  async settle(isTaken) {
    for (const draft of drafts) await draft.discard(isTaken)
  },
})

const blobPrefix = 'site'

/** Returns the digest of the blob that owns this content; undefined for content of other kinds. */
export function digestOf(contentId: string): string | undefined {
  const [prefix, sha256] = contentId.split('.')
  return prefix === blobPrefix ? sha256 : undefined
}

export const contentsOfBlob = ({ content, brotli, gzip: gzipped }: SiteBlob): readonly ContentRef[] =>
  [content, brotli, gzipped].filter((ref) => ref !== null)

export async function readBlobText(database: Database, organizationId: string, { content }: SiteBlob, maxBytes: number): Promise<string> {
  const pieces: Bytes[] = []
  let size = 0
  for await (const piece of readContent(database, organizationId, content)) {
    pieces.push(piece)
    size += piece.length
    if (size >= maxBytes) break
  }
  return Buffer.from(joined(pieces)).subarray(0, maxBytes).toString('utf8')
}
