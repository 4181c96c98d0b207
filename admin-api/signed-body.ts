/**
 * Bodies that are signed instead of sent with a key: read whole and checked against their signature before anything of them is
 * looked at, then inflated within bounds.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { badSignature, type GivenSignature, type SignedSource, type SignedSources } from '#core/ingest-sources/signed-source.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import type { BodyStream } from './body-stream.ts'
import { tooLarge, type BodyMemory } from './request-body.ts'

/** Octets of a body as it is sent. */
export const signedBytesMax = 5 * 1024 * 1024

/** What is looked at of a request. */
export interface SignedRequest {
  readonly query: { readonly source_id?: string | undefined }
  readonly headers: IncomingHttpHeaders
  readonly body: BodyStream
}

/** Who can sign, and the octets of all bodies that are looked at at a time. */
export interface SignatureChecks {
  readonly sources: SignedSources
  readonly memory: BodyMemory
}

/** A body whose signature was right. */
export interface SignedBody {
  readonly signed: SignedSource
  /** As it was sent. */
  readonly bytes: Buffer
  readonly isGzip: boolean
}

/** Reads and checks a body, and runs `work` with it. Throws `invalid_signature`, `unsupported_media_type` and `request_too_large`. */
export async function withSignedBody<T>(
  { sources, memory }: SignatureChecks,
  { query, headers, body }: SignedRequest,
  work: (body: SignedBody) => Promise<T>,
): Promise<T> {
  const sourceId = query.source_id ?? single(headers['x-service-ingest-source'])
  const given: GivenSignature = { ours: single(headers['x-service-signature']), stalwart: single(headers['x-signature']) }
  if (sourceId === undefined || (given.ours === undefined && given.stalwart === undefined)) throw badSignature()
  const isGzip = isCompressed(headers['content-encoding'])
  const check = await sources.begin(sourceId)
  let held = 0
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of body.bytes) {
      check.update(chunk)
      if (!check.isKnown) continue // read to the end all the same, so that nobody learns which sources there are
      memory.take(chunk.length)
      held += chunk.length
      chunks.push(chunk)
    }
    const signed = await check.finish(given)
    await sources.seen(signed)
    return await work({ signed, bytes: Buffer.concat(chunks, held), isGzip })
  } finally {
    memory.release(held)
  }
}

const single = (value: string | string[] | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function isCompressed(encoding = 'identity'): boolean {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return false
  if (name === 'gzip' || name === 'x-gzip') return true
  const message = 'Send the body as it is, or with the header "Content-Encoding: gzip".'
  throw new Refusal('unsupported_media_type', message, { nextAction: 'use_gzip_or_no_content_encoding' })
}

const inflateWhole = promisify(gunzip)

/** The body in one piece, inflated to as much as may be sent uncompressed. */
export async function inflated({ bytes, isGzip }: SignedBody): Promise<Uint8Array> {
  if (!isGzip) return bytes
  try {
    return await inflateWhole(bytes, { maxOutputLength: signedBytesMax })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? bomb(signedBytesMax) : notGzip()
  }
}

/** The body in pieces, for readers that hold little at a time; of a body that goes beyond the limit, nothing is given out. */
export async function inflating({ bytes, isGzip }: SignedBody, bytesMax: number): Promise<AsyncIterable<Uint8Array>> {
  if (!isGzip) return piecesOf(bytes)
  let size = 0
  for await (const piece of gunzipped(bytes)) if ((size += piece.length) > bytesMax) throw bomb(bytesMax)
  return gunzipped(bytes)
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

const bomb = (bytesMax: number): Refusal => tooLarge(bytesMax, 'this one has more when it is inflated')
const notGzip = (): Refusal => invalid([{ path: 'body', message: 'is not gzip, although Content-Encoding says so' }])
