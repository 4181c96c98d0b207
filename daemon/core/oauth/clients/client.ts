/** OAuth clients: the programs that ask for tokens, and what they say of themselves (RFC 7591 §2). */
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
  /** Of a client with a secret: its keyed hash. */
  readonly secretFingerprint?: string
  /** The host that vouches for what the client says of itself; undefined when none does. */
  readonly verifiedHost?: string
}

/** The client by which anybody gets a sandbox; also published in the metadata of the server. */
export const anonymousBootstrapClientId = 'anonymous-bootstrap'

/** The clients that come with the service. */
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

/** What a client says of itself, as far as it matters here; the rest is passed over (RFC 7591 §2). */
export const clientMetadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(maxUris),
  client_name: z.string().max(1000).optional(),
  grant_types: z.array(z.string().max(200)).max(maxUris).optional(),
  response_types: z.array(z.string().max(200)).max(maxUris).optional(),
  token_endpoint_auth_method: z.string().max(200).optional(),
})

export type ClientMetadata = z.output<typeof clientMetadata>

/**
 * The part of a client that its metadata decides. Who says nothing of grant types may refresh, because nearly every program
 * that leaves them out expects to. Throws `invalid_redirect_uri` and `invalid_client_metadata` (RFC 7591 §3.2.2).
 */
export function readMetadata(metadata: ClientMetadata): Pick<Client, 'name' | 'redirectUris' | 'grantTypes'> {
  const wrong = metadata.redirect_uris.findIndex((uri) => !mayRegisterRedirectUri(uri))
  if (wrong >= 0) {
    const words = `redirect_uris[${wrong}] must be https, http on the loopback interface or the scheme of an application, without a fragment.`
    throw new OAuthError('invalid_redirect_uri', words)
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

/** On one line and not too long, as people are shown it. */
function shownName(name: string | undefined): string {
  const plain = (name ?? '').replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim()
  return plain === '' ? 'Unnamed application' : [...plain].slice(0, maxName).join('')
}
