/** Finds clients by id, and authenticates a client with a secret at the token endpoint (RFC 6749 §2.3). */
import type { SecretBox } from '../../access/secret-box.ts'
import { builtInClients, type Client } from './client.ts'
import { isMetadataAddress, type ClientMetadataDocuments } from './client-metadata-documents.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { Parameters } from '../protocol/parameters.ts'
import type { Registrations } from './registrations.ts'

export interface ClientOptions {
  readonly documents: ClientMetadataDocuments
  readonly registrations: Registrations
  readonly secrets: SecretBox
}

/** A request to the token or revocation endpoint. */
export interface ClientRequest {
  readonly parameters: Parameters
  /** The `Authorization` header. */
  readonly authorization: string | undefined
  readonly remoteAddress: string
}

interface Credentials {
  readonly id: string
  readonly secret: string | undefined
  readonly method: Client['authentication']
}

export class Clients {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Returns a client for the authorization endpoint. Throws `invalid_client`; for metadata documents the message contains the reason. */
  async find(id: string, remoteAddress: string): Promise<Client> {
    const { documents, registrations } = this.#options
    if (isMetadataAddress(id)) return documents.find(id, remoteAddress)
    const client = builtInClients.get(id) ?? (await registrations.find(id))
    if (client) return client
    throw new OAuthError('invalid_client', 'No client has this id; register the client, or use the URL of its metadata document.')
  }

  /**
   * Returns the id of the client that makes the request. A client with a metadata document has no secret: its codes and refresh tokens are
   * bound to its id. A refresh therefore works without the document. Throws `invalid_client` and `invalid_request`.
   */
  async authenticate(request: ClientRequest): Promise<string> {
    const { id, secret, method } = readCredentials(request)
    if (isMetadataAddress(id)) {
      if (method !== 'none') throw refused()
      return id
    }
    const client = builtInClients.get(id) ?? (await this.#options.registrations.find(id))
    if (client?.authentication !== method) throw refused()
    if (method === 'none') return id
    const { secretFingerprint } = client
    if (secret === undefined || secretFingerprint === undefined || !this.#options.secrets.matches(secret, secretFingerprint))
      throw refused()
    return id
  }
}

const basic = /^basic +([A-Za-z\d+/]+={0,2}) *$/i

function readCredentials({ parameters, authorization }: ClientRequest): Credentials {
  const id = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  if (authorization === undefined) {
    if (id === undefined) throw new OAuthError('invalid_client', 'Give the client_id.')
    return { id, secret, method: secret === undefined ? 'none' : 'client_secret_post' }
  }
  const named = readBasic(authorization)
  if (!named) throw new OAuthError('invalid_client', 'The Authorization header must use the Basic scheme.')
  if (secret !== undefined) throw new OAuthError('invalid_request', 'Give the client secret once: in the header or in the body.')
  if (id !== undefined && id !== named.id) throw new OAuthError('invalid_request', 'The header and the body contain different clients.')
  return { ...named, method: 'client_secret_basic' }
}

/** RFC 6749 §2.3.1: id and secret are form-encoded separately, then joined. */
function readBasic(header: string): { id: string; secret: string } | undefined {
  const encoded = basic.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const [id = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  if (rest.length === 0) return undefined
  try {
    const [plainId = '', plainSecret = ''] = [id, rest.join(':')].map((half) => decodeURIComponent(half.replaceAll('+', ' ')))
    return { id: plainId, secret: plainSecret }
  } catch {
    return undefined
  }
}

const refused = (): OAuthError => new OAuthError('invalid_client', 'The client is unknown, or its secret is wrong.')
