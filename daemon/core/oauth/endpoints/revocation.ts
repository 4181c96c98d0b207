/** The revocation endpoint: a client that presents any token of its grant ends the whole grant (RFC 7009 §2). */
import type { Database } from '#store/database.ts'
import type { AccessTokens } from '../tokens/access-tokens.ts'
import type { ClientRequest, Clients } from '../clients/clients.ts'
import type { Grants } from '../grants/grants.ts'
import { findRefreshToken, isRefreshToken } from '../tokens/refresh-tokens.ts'
import { surfaces } from '../protocol/scopes.ts'

export interface RevocationOptions {
  readonly database: Database
  readonly clients: Clients
  readonly tokens: AccessTokens
  readonly grants: Grants
}

export class Revocation {
  readonly #options: RevocationOptions

  constructor(options: RevocationOptions) {
    this.#options = options
  }

  /** Unknown tokens and tokens of other clients are not an error (RFC 7009 §2.2). Throws `invalid_client` and `invalid_request`. */
  async revoke(request: ClientRequest): Promise<void> {
    request.parameters.assertOnce()
    const clientId = await this.#options.clients.authenticate(request)
    const grantId = await this.#grantOf(request.parameters.need('token'))
    const grant = grantId === undefined ? undefined : await this.#options.grants.find(grantId)
    if (grant?.record.clientId !== clientId) return
    const { id } = grant.record
    await this.#options.grants.revoke(id, { kind: 'agent', id }, { reason: 'revoked by its client' })
  }

  async #grantOf(token: string): Promise<string | undefined> {
    const { database, tokens } = this.#options
    if (isRefreshToken(token)) return (await findRefreshToken(database, token))?.token.grantId
    for (const surface of surfaces) {
      const read = await tokens.read(token, surface)
      if (read) return read.grantId
    }
    return undefined
  }
}
