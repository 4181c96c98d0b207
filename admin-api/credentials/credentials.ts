/**
 * How a request proves who makes it. An operation takes bearer tokens unless it names its credentials; the first of them that the request
 * carries is the one that counts.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Refusal } from '#core/refusals.ts'
import { challenge, type ProtectedResource } from './challenge.ts'
import { requireSameOrigin } from './same-origin.ts'

/** The page whose scripts may read an answer; without an origin no page's. */
export interface CorsReader {
  readonly origin: string | undefined
  readonly requestHeaders: readonly string[]
}

/** As much of a request as credentials are looked for in. */
export interface CredentialRequest {
  readonly method: string
  /** As it was asked for, without the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly search: URLSearchParams | undefined
  readonly remoteAddress: string
}

/** Whether a request comes with a bearer token, which then counts before any other credential. */
export const carriesBearer = ({ headers: { authorization = '' } }: Pick<CredentialRequest, 'headers'>): boolean =>
  /^bearer /i.test(authorization)

/** Finds out whose secret it is, or throws `unauthorized`. Called again when a body or a wait took its time. */
export type VerifySecret<C = unknown> = (secret: string, request: CredentialRequest, core: C) => Promise<Principal>

export interface Credential<in C = unknown> {
  readonly kind: 'publishable' | 'session' | 'basic' | 'header' | 'query' | 'access token'
  /** The secret, whatever it is good for; undefined where the request carries none of this kind. */
  readonly secretOf: (request: CredentialRequest) => string | undefined
  readonly authenticate: VerifySecret<C>
  /** The error for a request without any credential. */
  readonly hint: string
  /** The header `WWW-Authenticate` of such an answer (RFC 9110 §11.6.1). */
  readonly challenge?: string
  /** What callers without a good token are pointed to, where that is not the REST API. */
  readonly resource?: ProtectedResource
  /** Name and security scheme in the OpenAPI document; without it, it is a bearer token there. */
  readonly scheme?: readonly [name: string, scheme: Readonly<Record<string, string>>]
  /** The field of the query that carries it. */
  readonly queryField?: string
  /** The header with what a captcha gave the visitor (`Client.captchaToken`). */
  readonly captchaHeader?: string
  readonly limits?: BodyLimits<C>
  readonly cors?: Cors
}

/** Bounds for what requests with one credential may send, where anybody can have it. */
export interface BodyLimits<in C = unknown> {
  /** Largest body in bytes. */
  readonly maxBodyBytes: number
  /** Throws when no body of this client is to be read now. */
  readonly admit: (principal: Principal, remoteAddress: string, core: C) => Promise<void>
  /** Is notified of every body that was refused. */
  readonly countRefused: (principal: Principal, remoteAddress: string, core: C) => Promise<void>
}

/** Scripts of other origins that may call (CORS, in the Fetch standard). */
export interface Cors {
  /** Request headers that they may send. */
  readonly requestHeaders: readonly string[]
  /** The origin whose scripts may read the answer, by the header `Origin`; undefined for none. */
  readonly allowedOrigin: (origin: string) => string | undefined
}

/** An operation takes bearer tokens, or these in their place; `bearer` in the list keeps both. */
export type Credentials<C = unknown> = readonly (Credential<C> | 'bearer')[]

/** Keys that stand in web pages: bearer tokens with a beginning of their own. */
export const publishable = <C>({
  prefix,
  captchaHeader,
  cors,
  ...rest
}: Pick<Credential<C>, 'authenticate'> & {
  readonly prefix: string
  readonly captchaHeader: string
  readonly limits: BodyLimits<C>
  readonly cors: Cors
}): Credential<C> => ({
  ...rest,
  captchaHeader,
  cors: { ...cors, requestHeaders: [...cors.requestHeaders, captchaHeader.toLowerCase()] },
  kind: 'publishable',
  hint: bearerHint,
  secretOf({ headers: { authorization = '' } }) {
    const key = /^bearer +/i.test(authorization) ? authorization.replace(/^bearer +/i, '').trimEnd() : ''
    return key.startsWith(prefix) ? key : undefined
  },
})

/** Access tokens of the authorization server for another resource than the REST API. */
export const accessToken = (
  resource: ProtectedResource,
  verify: (token: string, remoteAddress: string) => Promise<Principal>,
  cors: Cors,
): Credential => ({
  kind: 'access token',
  ...{ resource, cors },
  hint: 'Get an access token from the authorization server that resource_metadata names, and send it in the header "Authorization: Bearer <token>".',
  secretOf: ({ headers: { authorization = '' } }) => /^bearer +([\w.~+/-]{1,4096}=*) *$/i.exec(authorization)?.[1],
  authenticate: (token, { remoteAddress }) => verify(token, remoteAddress),
})

/** The resource that an operation's tokens are for; undefined where it is the REST API. */
const ownResource = ({ credentials = [] }: WithCredentials): ProtectedResource | undefined =>
  credentials.map((each) => (each === 'bearer' ? undefined : each.resource)).find((each) => each !== undefined)

/** A header of its own, such as `X-Server-Token`. */
export const header = (name: string, authenticate: VerifySecret): Credential => ({
  kind: 'header',
  authenticate,
  hint: `Send your API key in the header "${name}".`,
  scheme: [`header ${name}`, { type: 'apiKey', in: 'header', name }],
  secretOf({ headers }) {
    const value = headers[name.toLowerCase()]
    return typeof value === 'string' && value !== '' ? value : undefined
  },
})

/** A field of the query. It is not one of the fields that the operation sees. */
export const query = (name: string, authenticate: VerifySecret): Credential => ({
  kind: 'query',
  authenticate,
  hint: `Send your API key in the query, as "${name}".`,
  scheme: [`query ${name}`, { type: 'apiKey', in: 'query', name }],
  queryField: name,
  secretOf: ({ search }) => search?.get(name) || undefined,
})

/** The password of HTTP Basic (RFC 7617); the user name is for clients that must send one. */
export const basic = (authenticate: VerifySecret): Credential => ({
  kind: 'basic',
  authenticate,
  hint: 'Send your API key as the password of HTTP Basic authentication.',
  challenge: 'Basic realm="Postern", charset="UTF-8"',
  scheme: ['basic', { type: 'http', scheme: 'basic' }],
  secretOf({ headers: { authorization = '' } }) {
    const [, encoded] = /^basic +([\w+/]{1,8192}={0,2}) *$/i.exec(authorization) ?? []
    if (encoded === undefined) return undefined
    const text = Buffer.from(encoded, 'base64').toString('utf8')
    const colon = text.indexOf(':')
    return colon < 0 ? undefined : text.slice(colon + 1)
  },
})

/** The cookie of somebody who signed in. What changes something must come from a page of this origin, as browsers send cookies along. */
export const session = ({
  cookie,
  ownOrigin,
  authenticate,
}: {
  readonly cookie: string
  readonly ownOrigin: string
  readonly authenticate: VerifySecret
}): Credential => ({
  kind: 'session',
  hint: 'Sign in, or send your API key in the header "Authorization: Bearer <key>".',
  scheme: ['session', { type: 'apiKey', in: 'cookie', name: cookie }],
  secretOf: ({ headers }) => {
    const found = headers.cookie?.split(';').map((part) => part.trim())
    return found?.find((part) => part.startsWith(`${cookie}=`))?.slice(cookie.length + 1)
  },
  authenticate(secret, request, core) {
    if (request.method !== 'GET' && request.method !== 'HEAD') requireSameOrigin(request.headers, ownOrigin)
    return authenticate(secret, request, core)
  },
})

const bearerHint = 'Send your API key in the header "Authorization: Bearer <key>".'

interface WithCredentials {
  readonly credentials?: Credentials<never>
  readonly cors?: Cors
}

/** Scripts of other origins read what concerns their credential, and answers without any; nothing that another key was given. */
export function corsReader({ credentials = [], cors }: WithCredentials, request: CredentialRequest): CorsReader | undefined {
  const { origin: page } = request.headers
  if (cors) return { origin: page === undefined ? undefined : cors.allowedOrigin(page), requestHeaders: cors.requestHeaders }
  for (const each of credentials) {
    if (each === 'bearer' || !each.cors) continue
    const { origin, authorization } = request.headers
    const { allowedOrigin, requestHeaders } = each.cors
    if (origin === undefined) return { origin, requestHeaders }
    const isTheirs = authorization === undefined || each.secretOf(request) !== undefined
    return { origin: isTheirs ? allowedOrigin(origin) : undefined, requestHeaders }
  }
  return undefined
}

/** What a captcha gave the visitor of a web page, in the header that a credential of the operation has for it. */
export function captchaToken({ credentials = [] }: WithCredentials, headers: IncomingHttpHeaders): string | undefined {
  const named = credentials.map((each) => (each === 'bearer' ? undefined : each.captchaHeader)).find((each) => each !== undefined)
  const given = named && headers[named.toLowerCase()]
  return typeof given === 'string' ? given : undefined
}

/** The header `WWW-Authenticate` of a refusal. `usual`: the resource of bearer tokens; `isPresented`: it has what could be one. */
export const challengeFor = (
  operation: WithCredentials,
  refusal: Refusal,
  usual: ProtectedResource | undefined,
  isPresented: boolean,
): string | undefined => ownChallenge(operation, refusal) ?? challenge(refusal, ownResource(operation) ?? usual, isPresented)

/** The same where bearer tokens are not taken. */
function ownChallenge({ credentials }: WithCredentials, { code }: Refusal): string | undefined {
  if (code !== 'unauthorized' || !credentials || credentials.includes('bearer')) return undefined
  return credentials.map((each) => (each === 'bearer' ? undefined : each.challenge)).find((each) => each !== undefined)
}

/** The query without what is no field of the operation but a credential. */
export function withoutSecrets<T>(fields: Readonly<Record<string, T>>, { credentials }: WithCredentials): Readonly<Record<string, T>> {
  if (!credentials) return fields
  const secrets = new Set(credentials.map((each) => (each === 'bearer' ? undefined : each.queryField)))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !secrets.has(name)))
}
