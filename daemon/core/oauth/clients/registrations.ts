/** Dynamic client registration (RFC 7591). Anyone can register a client, so its name is unverified. */
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { assertWithin, countAddress, registrationLimits, type AddressLimit } from '../protocol/address-limits.ts'
import { clientAuthentications, readMetadata, type Client, type ClientAuthentication, type ClientMetadata } from './client.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { newOpaqueToken } from '../protocol/opaque-token.ts'

export interface RegistrationOptions extends Core {
  readonly limits?: readonly AddressLimit[]
}

interface Registration {
  readonly client: Client
  readonly createdAt: number
  /** Whether a user ever approved the client. A client without approval is removed after a day. */
  readonly isUsed: boolean
}

/** A new client with its secret, which the service cannot show later. */
export interface Registered {
  readonly client: Client
  readonly secret: string | undefined
  readonly createdAt: number
}

const unusedMs = 86_400_000
const purpose = 'registration'
const idPattern = /^client_[\w-]{43}$/

const rowKey = (id: string): readonly Element[] => globalKey('oauth.client', id)

export class Registrations {
  readonly #options: RegistrationOptions

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  /** Throws `invalid_redirect_uri`, `invalid_client_metadata` and `temporarily_unavailable` (too many registrations). */
  async register(metadata: ClientMetadata, remoteAddress: string): Promise<Registered> {
    const { database, secrets, clock, limits = registrationLimits } = this.#options
    const now = clock.now()
    const authentication = readAuthentication(metadata.token_endpoint_auth_method)
    const secret = authentication === 'none' ? undefined : newOpaqueToken()
    const client: Client = {
      ...readMetadata(metadata),
      id: newOpaqueToken('client_'),
      authentication,
      ...(secret !== undefined && { secretFingerprint: secrets.hash(secret) }),
    }
    const change = new Change().setNew(rowKey(client.id), encode({ client, createdAt: now, isUsed: false } satisfies Registration))
    change.expire(now + unusedMs, rowKey(client.id))
    countAddress(change, purpose, limits, remoteAddress, now)
    assertWithin(await database.commit(change), purpose, limits, remoteAddress, now)
    return { client, secret, createdAt: now }
  }

  async find(id: string): Promise<Client | undefined> {
    return (await this.#read(id))?.client
  }

  /** Adds to the write that the client was approved, which makes it permanent. */
  async markUsed(change: Change, id: string): Promise<void> {
    const registration = await this.#read(id)
    if (registration && !registration.isUsed) change.set(rowKey(id), encode({ ...registration, isUsed: true }))
  }

  async #read(id: string): Promise<Registration | undefined> {
    if (!idPattern.test(id)) return undefined
    const entry = await this.#options.database.kv.get(pack(rowKey(id)))
    const registration = entry && decode<Registration>(entry.value)
    return registration && (registration.isUsed || this.#options.clock.now() < registration.createdAt + unusedMs) ? registration : undefined
  }
}

/** Default of RFC 7591 §2: without the field, the client gets a secret for HTTP Basic. */
function readAuthentication(asked = 'client_secret_basic'): ClientAuthentication {
  const known = clientAuthentications.find((method) => method === asked)
  if (known) return known
  throw new OAuthError('invalid_client_metadata', `token_endpoint_auth_method must be one of ${clientAuthentications.join(', ')}.`)
}
