/** The operations of the authorization server without user interaction; `authorize.ts` contains the authorization endpoint. */
import type { OAuthUrls } from '#core/oauth/protocol/scopes.ts'
import type { SigningKeys } from '#core/oauth/tokens/signing-keys.ts'
import type { Operation } from '../operation/operation.ts'
import { discoveryOperations } from './discovery.ts'
import { endpointOperations, type EndpointCore } from './endpoints.ts'

export interface OAuthCore extends EndpointCore {
  readonly urls: OAuthUrls
  readonly signingKeys: SigningKeys
}

export const oauthOperations = (core: OAuthCore): readonly Operation[] => [
  ...discoveryOperations(core.urls, core.signingKeys),
  ...endpointOperations(core),
]
