/** OAuth clients, which request tokens, and their metadata (RFC 7591 §2). */
import * as z from 'zod'
import { OAuthError } from '../protocol/oauth-error.ts'
import { mayRegisterRedirectUri } from './redirect-uri.ts'

export const clientAuthentications = ['none', 'client_secret_basic', 'client_secret_post'] as const
export type ClientAuthentication = (typeof clientAuthentications)[number]

export const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const
export type GrantType = (typeof grantTypes)[number]

export interface Client {
  readonly id: string
  readonly name: string
  readonly redirectUris: readonly string[]
  readonly grantTypes: readonly GrantType[]
  readonly authentication: ClientAuthentication
  /** Keyed hash of the secret; only for clients with a secret. */
  readonly secretFingerprint?: string
  /** Host of the client's metadata document, which vouches for the metadata. Undefined for other clients. */
  readonly verifiedHost?: string
}

/** Client id for anonymous sandboxes, which anyone can use; the server metadata publish it. */
export const anonymousBootstrapClientId = 'anonymous-bootstrap'

/** Clients that are built into the service. */
export const builtInClients: ReadonlyMap<string, Client> = new Map(
  [
    {
      id: anonymousBootstrapClientId,
      name: 'Anonymous bootstrap',
      redirectUris: [],
      grantTypes: ['client_credentials', 'refresh_token'],
      authentication: 'none',
    } as const satisfies Client,
  ].map((client) => [client.id, client]),
)

const maxName = 100
const maxUris = 20

/** Client metadata that this server uses; other fields are ignored (RFC 7591 §2). */
export const clientMetadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(maxUris),
  client_name: z.string().max(1000).optional(),
  grant_types: z.array(z.string().max(200)).max(maxUris).optional(),
  response_types: z.array(z.string().max(200)).max(maxUris).optional(),
  token_endpoint_auth_method: z.string().max(200).optional(),
})

export type ClientMetadata = z.output<typeof clientMetadata>

/**
 * Returns the client properties that the metadata determine. Omitted grant types include refresh tokens, because most clients that omit
 * them expect to refresh. Throws `invalid_redirect_uri` and `invalid_client_metadata` (RFC 7591 §3.2.2).
 */
export function readMetadata(metadata: ClientMetadata): Pick<Client, 'name' | 'redirectUris' | 'grantTypes'> {
  const wrong = metadata.redirect_uris.findIndex((uri) => !mayRegisterRedirectUri(uri))
  if (wrong >= 0) {
    const text = `redirect_uris[${wrong}] must be https, http on the loopback interface or the scheme of an application, without a fragment.`
    throw new OAuthError('invalid_redirect_uri', text)
  }
  if (metadata.response_types && !metadata.response_types.includes('code'))
    throw new OAuthError('invalid_client_metadata', 'response_types must contain code; no other type is supported.')
  const asked = metadata.grant_types ?? ['authorization_code', 'refresh_token']
  if (!asked.includes('authorization_code')) throw new OAuthError('invalid_client_metadata', 'grant_types must contain authorization_code.')
  return {
    name: shownName(metadata.client_name),
    redirectUris: metadata.redirect_uris,
    grantTypes: (['authorization_code', 'refresh_token'] as const).filter((type) => asked.includes(type)),
  }
}

/** Returns the name for people: a single line, truncated to `maxName` characters. */
function shownName(name: string | undefined): string {
  const plain = (name ?? '').replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return plain === '' ? 'Unnamed application' : [...plain].slice(0, maxName).join('')
}
