/** Signing keys of endpoints in addition to their secret, and custom header fields. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Clock } from '../../clock.ts'
import { invalid } from '../../refusals.ts'
import { headersContext, signingContext, type WebhookEndpoint } from '../endpoint.ts'
import { keyOf, type WebhookFormat } from '../formats/format-names.ts'

/** Creates a certificate with an RSA key, both in PEM. */
export type MakeCertificate = (subject: {
  readonly names: readonly string[]
  readonly ipv4Addresses: readonly string[]
  readonly notBefore: number
  readonly notAfter: number
}) => Promise<{ readonly cert: string; readonly key: string }>

export interface KeyOptions {
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly makeCertificate: MakeCertificate
}

type Signing = NonNullable<WebhookEndpoint['signing']>
export type NewKey = Omit<Signing, 'sealedKey'> & { readonly key: string }

const dayMs = 86_400_000
/** Validity of certificates. Receivers rarely check it; rotating the secret creates a new certificate. */
const lifetimeMs = 20 * 365 * dayMs

/** Creates a key pair for the format. Returns undefined if the format needs no key pair. */
export async function newKey(format: WebhookFormat | undefined, { clock, makeCertificate }: KeyOptions): Promise<NewKey | undefined> {
  const kind = keyOf(format)
  if (kind === undefined) return undefined
  if (kind === 'p256') {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const verifier = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    return { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), verifier }
  }
  const now = clock.now()
  const certificateId = randomBytes(16).toString('hex')
  const names = [`SimpleNotificationService-${certificateId}`]
  const { cert, key } = await makeCertificate({ names, ipv4Addresses: [], notBefore: now - dayMs, notAfter: now + lifetimeMs })
  return { key, verifier: cert, certificateId }
}

export const sealedKey = ({ key, ...rest }: NewKey, id: string, secrets: SecretBox): Signing => ({
  ...rest,
  sealedKey: secrets.seal(key, signingContext(id)),
})

/** Whether the endpoint has the key that the format signs with. */
export const hasKeyFor = ({ signing }: WebhookEndpoint, format: WebhookFormat | undefined): boolean => {
  const kind = keyOf(format)
  if (kind === undefined || signing === undefined) return kind === undefined
  return (signing.certificateId !== undefined) === (kind === 'rsa')
}

/** Returns the sealed header fields, or undefined without header fields. */
export function sealedHeaders(headers: Readonly<Record<string, string>>, id: string, secrets: SecretBox): WebhookEndpoint['headers'] {
  const names = Object.keys(headers)
  return names.length === 0 ? undefined : { names, sealed: secrets.seal(JSON.stringify(headers), headersContext(id)) }
}

export function openHeaders({ id, headers }: WebhookEndpoint, secrets: SecretBox): Readonly<Record<string, string>> {
  const text = headers && secrets.open(headers.sealed, headersContext(id))
  return text === undefined ? {} : (JSON.parse(text) as Readonly<Record<string, string>>)
}

/** Header fields that the service sets: framing, client identity and signatures. */
const reserved =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|proxy-.*|x-service-.*|webhook-.*|svix-.*)$/

/** Returns the header fields with lower-case names. Throws `validation_failed` for a reserved or repeated name. */
export function checkHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const wrong = Object.keys(given).find((name) => reserved.test(name.toLowerCase()))
  if (wrong !== undefined) throw invalid([{ path: `headers.${wrong}`, message: 'is set by the service itself' }])
  const fields = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  if (fields.size < Object.keys(given).length) throw invalid([{ path: 'headers', message: 'must not name a field twice' }])
  return Object.fromEntries(fields)
}

/** Splits a login in the URL into a separate header field. Some services expect the login in the URL. */
export function splitLogin(text: string): { readonly targetUrl: string; readonly headers?: Readonly<Record<string, string>> } {
  const url = URL.parse(text)
  if (!url || (url.username === '' && url.password === '')) return { targetUrl: text }
  const login = Buffer.from([url.username, url.password].map(decoded).join(':')).toString('base64')
  url.username = url.password = ''
  return { targetUrl: url.href, headers: { authorization: `Basic ${login}` } }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
