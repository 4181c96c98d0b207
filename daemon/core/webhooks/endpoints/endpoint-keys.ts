/** What an endpoint signs with beside its secret, and what its requests carry beside signatures. */
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { SecretBox } from '../../access/secret-box.ts'
import type { Clock } from '../../clock.ts'
import { invalid } from '../../refusals.ts'
import { headersContext, signingContext, type WebhookEndpoint } from '../endpoint.ts'
import { keyOf, type WebhookFormat } from '../formats/format-names.ts'

/** Makes a certificate with an RSA key, both in PEM. */
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
/** Receivers seldom look at it; whoever does has it renewed by rotating the secret. */
const lifetimeMs = 20 * 365 * dayMs

/** A key pair for the format; undefined where it needs none. */
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

/** Sealed; undefined where there are none. */
export function sealedHeaders(headers: Readonly<Record<string, string>>, id: string, secrets: SecretBox): WebhookEndpoint['headers'] {
  const names = Object.keys(headers)
  return names.length === 0 ? undefined : { names, sealed: secrets.seal(JSON.stringify(headers), headersContext(id)) }
}

export function openHeaders({ id, headers }: WebhookEndpoint, secrets: SecretBox): Readonly<Record<string, string>> {
  const text = headers && secrets.open(headers.sealed, headersContext(id))
  return text === undefined ? {} : (JSON.parse(text) as Readonly<Record<string, string>>)
}

/** How the request is framed, and what we sign with, is ours. */
const reserved =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|accept-encoding|user-agent|proxy-.*|x-service-.*|webhook-.*|svix-.*)$/

/** By their names in lower case. Throws `validation_failed`. */
export function checkHeaders(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const wrong = Object.keys(given).find((name) => reserved.test(name.toLowerCase()))
  if (wrong !== undefined) throw invalid([{ path: `headers.${wrong}`, message: 'is set by the service itself' }])
  const fields = new Map(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  if (fields.size < Object.keys(given).length) throw invalid([{ path: 'headers', message: 'must not name a field twice' }])
  return Object.fromEntries(fields)
}

/** The address without a login, and the login as a header field: some services have people write it into the address. */
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
