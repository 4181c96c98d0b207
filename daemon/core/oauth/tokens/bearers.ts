/** Authenticates a bearer secret of the REST API: an API key, or an access token of the authorization server. */
import type { ApiKeys } from '../../access/keys/api-keys.ts'
import type { Principal } from '../../access/principal/principal.ts'
import type { TokenCheck } from './token-check.ts'

/** The compact form of RFC 7515 §7.1: three parts. The first part is a JSON object. */
const jwt = /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/

/** Authenticates `Authorization: Bearer …` for REST. The function throws `unauthorized`. */
export const bearerCheck =
  (apiKeys: Pick<ApiKeys, 'authenticate'>, tokens: Pick<TokenCheck, 'restPrincipal'>) =>
  (secret: string): Promise<Principal> =>
    jwt.test(secret) ? tokens.restPrincipal(secret) : apiKeys.authenticate(secret)
