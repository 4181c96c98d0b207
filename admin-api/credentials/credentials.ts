/**
 * The credentials of requests. An operation accepts bearer tokens unless it names its credentials. The first named credential in the
 * request applies.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Refusal } from '#core/refusals.ts'
import { challenge, type ProtectedResource } from './challenge.ts'
import { requireSameOrigin } from './same-origin.ts'

/** The origin whose scripts may read the response; undefined allows no origin. */
export interface CorsReader {
  readonly origin: string | undefined
  readonly requestHeaders: readonly string[]
}

/** The part of a request that may contain credentials. */
export interface CredentialRequest {
  readonly method: string
  /** Path of the request without the query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly search: URLSearchParams | undefined
  readonly remoteAddress: string
}

/** Whether a request contains a bearer token, which has precedence over other credentials. */
export const carriesBearer = ({ headers: { authorization = '' } }: Pick<CredentialRequest, 'headers'>): boolean =>
  /^bearer /i.test(authorization)

/** Returns the owner of the secret, or throws `unauthorized`. Called again after a long body or wait. */
export type VerifySecret<C = unknown> = (secret: string, request: CredentialRequest, core: C) => Promise<Principal>

export interface Credential<in C = unknown> {
  readonly kind: 'publishable' | 'session' | 'basic' | 'header' | 'query' | 'access token'
  /** Returns the secret without verifying it; undefined if the request contains none of this kind. */
  readonly secretOf: (request: CredentialRequest) => string | undefined
  readonly authenticate: VerifySecret<C>
  /** The error for a request without any credential. */
  readonly hint: string
  /** The header `WWW-Authenticate` of that response (RFC 9110 §11.6.1). */
  readonly challenge?: string
  /** The resource named in challenges to callers without a valid token, if it is not the REST API. */
  readonly resource?: ProtectedResource
  /** Name and security scheme in the OpenAPI document. If absent, the credential is a bearer token there. */
  readonly scheme?: readonly [name: string, scheme: Readonly<Record<string, string>>]
  /** The query field with the credential. */
  readonly queryField?: string
  /** The header with the visitor's captcha token (`Client.captchaToken`). */
  readonly captchaHeader?: string
  readonly limits?: BodyLimits<C>
  readonly cors?: Cors
}

/** Body limits of a public credential, such as a publishable key. */
export interface BodyLimits<in C = unknown> {
  /** Maximum body size in bytes. */
  readonly maxBodyBytes: number
  /** Throws to refuse bodies of this client at present. */
  readonly admit: (principal: Principal, remoteAddress: string, core: C) => Promise<void>
  /** Is notified of each refused body. */
  readonly countRefused: (principal: Principal, remoteAddress: string, core: C) => Promise<void>
}

/** Other origins whose scripts may call (CORS, in the Fetch standard). */
export interface Cors {
  /** Allowed request headers. */
  readonly requestHeaders: readonly string[]
  /** Returns the origin whose scripts may read the response, given the header `Origin`; undefined for none. */
  readonly allowedOrigin: (origin: string) => string | undefined
}

/** Credentials that replace bearer tokens; with `bearer` in the list, both are accepted. */
export type Credentials<C = unknown> = readonly (Credential<C> | 'bearer')[]

/** Keys in web pages: bearer tokens with a distinct prefix. */
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

/** Access tokens of the authorization server for a resource other than the REST API. */
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

/** Returns the resource of an operation's tokens; undefined for the REST API. */
const ownResource = ({ credentials = [] }: WithCredentials): ProtectedResource | undefined =>
  credentials.map((each) => (each === 'bearer' ? undefined : each.resource)).find((each) => each !== undefined)

/** A key in a separate header, such as `X-Server-Token`. */
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

/** A key in the query. The operation does not receive this field. */
export const query = (name: string, authenticate: VerifySecret): Credential => ({
  kind: 'query',
  authenticate,
  hint: `Send your API key in the query, as "${name}".`,
  scheme: [`query ${name}`, { type: 'apiKey', in: 'query', name }],
  queryField: name,
  secretOf: ({ search }) => search?.get(name) || undefined,
})

/** The password of HTTP Basic (RFC 7617); the user name is ignored, for clients that must send one. */
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

/**
 * The cookie of a signed-in user. Requests that change data must come from a page of this origin, since browsers send cookies
 * automatically.
 */
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

/**
 * Returns the origin that may read the response. Scripts of other origins can read responses for their own credential and without a
 * credential, never those for another key.
 */
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

/** Returns the captcha token of the visitor, from the header defined by a credential of the operation. */
export function captchaToken({ credentials = [] }: WithCredentials, headers: IncomingHttpHeaders): string | undefined {
  const named = credentials.map((each) => (each === 'bearer' ? undefined : each.captchaHeader)).find((each) => each !== undefined)
  const given = named && headers[named.toLowerCase()]
  return typeof given === 'string' ? given : undefined
}

/**
 * Returns the header `WWW-Authenticate` of a refusal. `usual`: the resource of bearer tokens. `isPresented`: whether the request contains a
 * possible token.
 */
export const challengeFor = (
  operation: WithCredentials,
  refusal: Refusal,
  usual: ProtectedResource | undefined,
  isPresented: boolean,
): string | undefined => ownChallenge(operation, refusal) ?? challenge(refusal, ownResource(operation) ?? usual, isPresented)

/** Returns the challenge of an operation without bearer tokens. */
function ownChallenge({ credentials }: WithCredentials, { code }: Refusal): string | undefined {
  if (code !== 'unauthorized' || !credentials || credentials.includes('bearer')) return undefined
  return credentials.map((each) => (each === 'bearer' ? undefined : each.challenge)).find((each) => each !== undefined)
}

/** Returns the query without fields that contain credentials. */
export function withoutSecrets<T>(fields: Readonly<Record<string, T>>, { credentials }: WithCredentials): Readonly<Record<string, T>> {
  if (!credentials) return fields
  const secrets = new Set(credentials.map((each) => (each === 'bearer' ? undefined : each.queryField)))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !secrets.has(name)))
}
