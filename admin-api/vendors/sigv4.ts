/** Checks AWS Signature Version 4. Our API key is both the access key id and the secret. */
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Timed } from '#core/clock.ts'
import { hmac, hmacKey, type HmacKey } from '#core/access/hmac.ts'
import { RecentMap } from '#core/recent-map.ts'
import { Refusal } from '#core/refusals.ts'
import type { Credential } from '../credentials/credentials.ts'
import type { KeyCheck } from './vendor-key.ts'

const scheme =
  /^AWS4-HMAC-SHA256 +Credential=([^/,\s]{1,4096})\/(\d{8})\/([\w-]{1,64})\/([\w-]{1,64})\/aws4_request, *SignedHeaders=([\w;-]{1,2000}), *Signature=([0-9a-f]{64})$/
const algorithm = 'AWS4-HMAC-SHA256'
/** Clock skew that AWS allows. */
const maxSkewMs = 15 * 60_000
const payloadHash = /^[0-9a-f]{64}$/
const emptyHash = hash('sha256', '')

export const isSignedForAws = ({ authorization = '' }: IncomingHttpHeaders): boolean => authorization.startsWith(algorithm)

/** Fields of the `Authorization` header. */
interface Claim {
  readonly key: string
  readonly day: string
  readonly region: string
  readonly service: string
  readonly signedHeaders: string
  readonly signature: string
}

/** Cached, since three checks of a request read it. */
const claims = new WeakMap<IncomingHttpHeaders, Claim>()

function claimOf(headers: IncomingHttpHeaders): Claim {
  const known = claims.get(headers)
  if (known) return known
  const [, key = '', day = '', region = '', service = '', signedHeaders = '', signature = ''] =
    scheme.exec(headers.authorization ?? '') ?? []
  const claim = { key, day, region, service, signedHeaders, signature }
  claims.set(headers, claim)
  return claim
}

/**
 * Accepts an API key as access key id, which must also sign the request. An API key as session token needs no signature check: the token
 * identifies the caller, and the client may use any secret.
 */
export const awsKey: Credential<KeyCheck & Timed> = {
  kind: 'header',
  hint: 'Use your API key as accessKeyId and as secretAccessKey.',
  secretOf({ headers }) {
    const { authorization = '', 'x-amz-security-token': token } = headers
    if (!authorization.startsWith(algorithm)) return undefined
    return typeof token === 'string' ? token : claimOf(headers).key
  },
  async authenticate(key, { method, path, headers, search, remoteAddress }, { verifyKey, clock }) {
    const principal = await verifyKey(key, remoteAddress)
    const { 'x-amz-security-token': token, 'x-amz-content-sha256': claimed } = headers
    if (token !== undefined) return principal
    // a POST without this field signs the digest of its body; `signedBody` checks it when the body has arrived
    if (claimed !== undefined || method !== 'POST')
      requireSignature(key, { method, path, headers, search, hash: claimed === undefined ? emptyHash : String(claimed) }, clock.now())
    return principal
  },
}

/** For a signed request, returns a check that throws `invalid_signature` if the body is not the signed one. */
export const signedBody =
  (path: string) =>
  (headers: IncomingHttpHeaders, { clock }: Timed) => {
    const { authorization = '', 'x-amz-content-sha256': claimed, 'x-amz-security-token': token } = headers
    if (!authorization.startsWith(algorithm) || token !== undefined) return undefined
    return (digest: string): void => {
      if (claimed === undefined)
        requireSignature(claimOf(headers).key, { method: 'POST', path, headers, search: undefined, hash: digest }, clock.now())
      else if (digest !== claimed) throw mismatch()
    }
  }

interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly search: URLSearchParams | undefined
  /** SHA-256 of the body, in hexadecimal. */
  readonly hash: string
}

function requireSignature(key: string, request: SignedRequest, nowMs: number): void {
  const { hash: digest } = request
  const { 'x-amz-date': date } = request.headers
  const { day, region, service, signedHeaders, signature } = claimOf(request.headers)
  if (typeof date !== 'string' || !payloadHash.test(digest)) throw mismatch()
  if (!(Math.abs(timeIn(date) - nowMs) <= maxSkewMs) || !date.startsWith(day))
    throw new Refusal(
      'invalid_signature',
      'The signature time differs from the server time by more than 15 minutes. Check the clock of the client.',
    )
  const names = signedHeaders.split(';')
  for (const needed of ['host', 'x-amz-date']) if (!names.includes(needed)) throw mismatch()
  const fields = names.map((name) => `${name}:${plain(request.headers[name])}`)
  const canonical = [request.method, request.path, canonicalQuery(request.search), ...fields, '', signedHeaders, digest].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = [algorithm, date, scope, hash('sha256', canonical)].join('\n')
  if (!timingSafeEqual(hmac(signingKey(key, day, region, service), Buffer.from(toSign)), Buffer.from(signature, 'hex'))) throw mismatch()
}

/** Trims a value and collapses repeated spaces. */
function plain(value: string | readonly string[] | undefined): string {
  const text = String(value ?? '').trim()
  return text.includes('  ') ? text.replaceAll(/ {2,}/g, ' ') : text
}

/** Parses the ISO 8601 basic format to milliseconds since the epoch; NaN for any other text. */
function timeIn(date: string): number {
  if (!/^\d{8}T\d{6}Z$/.test(date)) return NaN
  const part = (from: number, to: number): number => Number(date.slice(from, to))
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(9, 11), part(11, 13), part(13, 15))
}

/** Signing keys by the hash of their parts. A client uses the same key all day, which saves four of the five steps of a check. */
const signingKeys = new RecentMap<string, HmacKey>(500)

function signingKey(key: string, day: string, region: string, service: string): HmacKey {
  const parts = [`AWS4${key}`, day, region, service, 'aws4_request']
  const id = hash('sha256', parts.join('/'), 'base64')
  const known = signingKeys.get(id)
  if (known) return known
  const [secret = '', ...steps] = parts
  const made = steps.reduce((signing, step) => hmacKey(hmac(signing, Buffer.from(step))), hmacKey(Buffer.from(secret)))
  signingKeys.set(id, made)
  return made
}

function canonicalQuery(search: URLSearchParams | undefined): string {
  const escaped = (part: string) =>
    encodeURIComponent(part).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return [...(search ?? [])]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .toSorted()
    .join('&')
}

const mismatch = (): Refusal =>
  new Refusal('invalid_signature', 'The signature does not match the request. Use your API key as accessKeyId and as secretAccessKey.')
