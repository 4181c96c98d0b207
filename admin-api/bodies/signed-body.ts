/** Bodies authenticated by a signature instead of a key: read completely, verified before any parsing, then decompressed within limits. */
import { withCommas } from '#config/texts/formats.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { badSignature, type GivenSignature, type SignedSource, type SignedSources } from '#core/ingest-sources/signed-source.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import type { BodyStream } from './body-stream.ts'
import { tooLarge } from './request-body.ts'

/** Maximum octets of a body as sent. */
export const maxSignedBytes = 5 * 1024 * 1024

/** The parts of a request that are used. */
export interface SignedRequest {
  readonly query: { readonly source_id?: string | undefined }
  readonly headers: IncomingHttpHeaders
  readonly body: BodyStream
}

/** A body with a valid signature. */
export interface SignedBody {
  readonly signed: SignedSource
  /** The body as sent. */
  readonly bytes: Buffer
  readonly isGzip: boolean
}

/**
 * Reads and verifies a body, and runs `work` with it, or with the first `maxKept` octets of an uncompressed body. Throws
 * `invalid_signature`, `unsupported_media_type` and `request_too_large`.
 */
export async function withSignedBody<T>(
  sources: SignedSources,
  { query, headers, body }: SignedRequest,
  work: (body: SignedBody) => Promise<T>,
  maxKept: number = Infinity,
): Promise<T> {
  const sourceId = query.source_id ?? single(headers['x-service-ingest-source'])
  const given: GivenSignature = { ours: single(headers['x-service-signature']), stalwart: single(headers['x-signature']) }
  if (sourceId === undefined || (given.ours === undefined && given.stalwart === undefined)) throw badSignature()
  const isGzip = isCompressed(headers['content-encoding'])
  const check = await sources.begin(sourceId)
  const { organizationId } = check
  if (organizationId !== undefined) await body.keep({ mostBytes: maxKept, crowd: `signed for ${organizationId}` })
  let [size, held] = [0, 0]
  const chunks: Uint8Array[] = []
  for await (const chunk of body.bytes) {
    check.update(chunk)
    if (isGzip && (size += chunk.length) > maxSignedBytes) throw tooLarge(maxSignedBytes, 'this one has more, compressed')
    // read to the end in every case, so that the response does not reveal which sources exist
    const kept = organizationId === undefined ? nothing : chunk.subarray(0, maxKept - held)
    held += kept.length
    if (kept.length > 0) chunks.push(kept)
  }
  const signed = await check.finish(given)
  await sources.seen(signed)
  return await work({ signed, bytes: Buffer.concat(chunks, held), isGzip })
}

const nothing = new Uint8Array()

const single = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function isCompressed(encoding = 'identity'): boolean {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return false
  if (name === 'gzip' || name === 'x-gzip') return true
  const message = 'Send the body uncompressed, or with the header "Content-Encoding: gzip".'
  throw new Refusal('unsupported_media_type', message, { nextAction: 'use_gzip_or_no_content_encoding' })
}

/**
 * Octets allowed after decompression regardless of the length, and the maximum compression ratio beyond that. Processing cost depends on
 * the decompressed size, while senders pay for the compressed size. Logs reach a ratio of about 50; only malicious bodies reach 1,000.
 */
const inflatedAlways = 1024 * 1024
const maxInflation = 100

/** Returns the allowed octets after decompression for a body of `length`, at most `maxBytes`. */
export const maxInflated = (length: number, maxBytes: number = maxSignedBytes): number =>
  Math.min(maxBytes, Math.max(inflatedAlways, maxInflation * length))

const inflateWhole = promisify(gunzip)

/** Returns the decompressed body. Throws `request_too_large` if it exceeds the limit after decompression. */
export async function inflated({ bytes, isGzip }: SignedBody): Promise<Uint8Array> {
  if (!isGzip) return bytes
  const allowed = maxInflated(bytes.length)
  try {
    return await inflateWhole(bytes, { maxOutputLength: allowed })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? bomb(allowed) : notGzip()
  }
}

/**
 * Returns the first `maxKept` octets after decompression. Throws `request_too_large` if the body exceeds `maxBytes` after decompression.
 */
export async function beginningOf({ bytes, isGzip }: SignedBody, maxKept: number, maxBytes: number): Promise<Uint8Array> {
  if (!isGzip) return bytes
  const allowed = maxInflated(bytes.length, maxBytes)
  const kept: Uint8Array[] = []
  let size = 0
  for await (const piece of gunzipped(bytes)) {
    if (size < maxKept) kept.push(piece.subarray(0, maxKept - size))
    if ((size += piece.length) > allowed) throw bomb(allowed)
  }
  return Buffer.concat(kept)
}

export interface LineBounds {
  /** Octets after decompression. */
  readonly maxBytes: number
  readonly maxLines: number
}

/**
 * Returns a body of lines in pieces, for readers with little memory. The limits are checked before the first piece is returned. Throws
 * `request_too_large`.
 */
export async function linesOf({ bytes, isGzip }: SignedBody, { maxBytes, maxLines }: LineBounds): Promise<AsyncIterable<Uint8Array>> {
  const pieces = () => (isGzip ? gunzipped(bytes) : piecesOf(bytes))
  const allowed = isGzip ? maxInflated(bytes.length, maxBytes) : maxBytes
  let size = 0
  let lines = 0
  for await (const piece of pieces()) {
    if ((size += piece.length) > allowed) throw bomb(allowed)
    if ((lines += lineEnds(piece)) > maxLines) throw tooManyLines(maxLines)
  }
  return pieces()
}

function lineEnds(piece: Uint8Array): number {
  let found = 0
  for (const octet of piece) if (octet === 0x0a) found++
  return found
}

function tooManyLines(maxLines: number): Refusal {
  const message = `A request may contain at most ${withCommas(maxLines)} lines; send the log in several requests.`
  return new Refusal('request_too_large', message, { details: { max_lines: maxLines } })
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const pieceBytes = 65_536
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

async function* gunzipped(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const stream = createGunzip()
  stream.end(bytes)
  try {
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    throw error instanceof Refusal ? error : notGzip()
  }
}

const bomb = (maxBytes: number): Refusal => tooLarge(maxBytes, 'this one is larger after decompression')
const notGzip = (): Refusal => invalid([{ path: 'body', message: 'is not gzip, but the header says Content-Encoding: gzip' }])
