/** Who a bearer secret of the REST API belongs to: an API key, or an access token of the authorization server. */
import type { ApiKeys } from '../../access/keys/api-keys.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { TokenCheck } from './token-check.ts'

/** Three parts, the first a JSON object: the compact form of RFC 7515 §7.1. */
const jwt = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/

/** The check of `Authorization: Bearer …` for REST. It throws `unauthorized`. */
export const bearerCheck =
  (apiKeys: Pick<ApiKeys, 'authenticate'>, tokens: Pick<TokenCheck, 'restPrincipal'>) =>
  (secret: string): Promise<Principal> =>
    jwt.test(secret) ? tokens.restPrincipal(secret) : apiKeys.authenticate(secret)
