/** Connection and credentials of a destination as stored: created from a request, or changed by one. */
import type { HttpProvider } from '#config/mail/providers.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { invalid, Refusal } from '../../refusals.ts'
import {
  oauth2Context,
  passwordContext,
  secretContext,
  type Destination,
  type DestinationSettings,
  type HttpDestination,
  type SmtpDestination,
} from '../destination.ts'
import { assertPasswordStays, mergeEndpoint, type EndpointChanges } from './endpoint-changes.ts'
import { checkEndpoint, type Endpoint, type EndpointGuards, type EndpointRequest } from './endpoint.ts'
import { checkCredentials, type CheckedCredentials, type CredentialChanges } from './http-credentials.ts'
import { sealOAuth2 } from './oauth2.ts'

type SmtpConnection = Omit<SmtpDestination, keyof DestinationSettings>
type HttpConnection = Omit<HttpDestination, keyof DestinationSettings>
type Connection = SmtpConnection | HttpConnection

/** Connection of a new destination. */
export type ConnectionRequest =
  | { readonly provider: 'smtp'; readonly endpoint: EndpointRequest }
  | { readonly provider: HttpProvider; readonly credentials: CredentialChanges }

/** Changes of a connection. The provider determines the applicable field. */
export interface ConnectionChanges {
  readonly endpoint?: EndpointChanges | undefined
  readonly credentials?: CredentialChanges | undefined
}

export interface ConnectionOptions extends EndpointGuards {
  readonly secrets: SecretBox
}

/** Throws `validation_failed` naming the problems. The DNS lookup may take seconds. */
export async function newConnection(id: string, request: ConnectionRequest, options: ConnectionOptions): Promise<Connection> {
  if (request.provider === 'smtp') return sealEndpoint(id, await checkEndpoint(request.endpoint, options), options.secrets)
  const checked = await checkCredentials(request.provider, request.credentials, options)
  return { provider: request.provider, ...sealCredentials(id, checked, {}, options.secrets) }
}

/** Returns a function that computes the changes for the destination at the time of the write, because lookups take time. */
export function changedConnection(
  stored: Destination,
  changes: ConnectionChanges,
  options: ConnectionOptions,
): Promise<(before: Destination) => Partial<Connection>> {
  return stored.provider === 'smtp' ? changedSmtp(stored, changes, options) : changedHttp(stored, changes, options)
}

async function changedSmtp(stored: SmtpDestination, { endpoint: given, credentials = {} }: ConnectionChanges, options: ConnectionOptions) {
  const misplaced = Object.keys(credentials).filter((name) => credentials[name] !== undefined)
  if (misplaced.length > 0)
    throw invalid(misplaced.map((name) => ({ path: `credentials.${name}`, message: 'is not a credential of provider smtp' })))
  if (!given) return () => ({})
  const request = mergeEndpoint(stored, given)
  const endpoint = await checkEndpoint(request, options)
  return (before: Destination): Partial<SmtpConnection> => {
    if (!request.keepsPassword) return sealEndpoint(stored.id, endpoint, options.secrets)
    // The lookup took time: host and password may have changed since.
    if (before.provider === 'smtp') assertPasswordStays(before, endpoint)
    const { password: _, oauth2: __, ...others } = endpoint
    return others
  }
}

async function changedHttp(stored: HttpDestination, { endpoint = {}, credentials }: ConnectionChanges, options: ConnectionOptions) {
  const { id, provider } = stored
  const misplaced = Object.entries(endpoint).flatMap(([name, value]) =>
    value === undefined ? [] : [wireNames[name] ?? `credentials.${name}`],
  )
  if (misplaced.length > 0)
    throw invalid(misplaced.map((path) => ({ path, message: `belongs to provider smtp; this destination is ${provider}` })))
  if (!credentials) return () => ({})
  const checked = await checkCredentials(provider, credentials, options, stored)
  return (before: Destination): Partial<HttpConnection> => {
    if (before.updatedAt !== stored.updatedAt)
      throw new Refusal('conflict', 'The destination was modified by another request. Fetch the current version and try again.')
    return sealCredentials(id, checked, stored.sealedCredentials, options.secrets)
  }
}

/** Request paths of endpoint settings, for errors. Any other setting has the path `credentials.` and its name. */
const wireNames: Readonly<Record<string, string>> = { preset: 'preset', tlsPolicy: 'credentials.tls_policy' }

function sealEndpoint(id: string, { password, oauth2, ...endpoint }: Endpoint, secrets: SecretBox): SmtpConnection {
  return {
    provider: 'smtp',
    ...endpoint,
    sealedPassword: password === undefined ? null : secrets.seal(password, passwordContext(id)),
    oauth2: oauth2 && sealOAuth2(oauth2, (text) => secrets.seal(text, oauth2Context(id))),
  }
}

function sealCredentials(
  id: string,
  { baseUrl, credentials, secrets: given, kept }: CheckedCredentials,
  before: HttpConnection['sealedCredentials'],
  secrets: SecretBox,
): Omit<HttpConnection, 'provider'> {
  const stays = Object.entries(before).filter(([name]) => kept.includes(name))
  const sealed = Object.entries(given).map(([name, secret]) => [name, secrets.seal(secret, secretContext(id, name))])
  return { baseUrl, credentials, sealedCredentials: Object.fromEntries([...stays, ...sealed]) }
}
