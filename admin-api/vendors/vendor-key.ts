/** Reads the API key from all places that clients of other services use. */
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import type { Credential } from '../credentials/credentials.ts'

export interface KeyCheck {
  /** Throws `unauthorized`. */
  readonly verifyKey: (key: string, remoteAddress: string) => Promise<Principal>
}

const key = /^[\w.~+/-]{1,4096}=*$/
const beginning = /^svc(?!pub_)/

/**
 * Supports `Authorization` with or without a scheme, Basic with the key as user name or password, and the header fields of Postmark and
 * Brevo.
 */
export const vendorKey: Credential<KeyCheck> = {
  kind: 'header',
  hint: 'Send your API key in the field that the client uses for its own key.',
  secretOf({ headers }) {
    const { authorization, 'x-postmark-server-token': postmark, 'api-key': brevo } = headers
    for (const own of [postmark, brevo]) if (typeof own === 'string' && own !== '') return own
    return authorization === undefined ? undefined : keyIn(authorization.trim())
  },
  authenticate(secret, { remoteAddress }, { verifyKey }) {
    if (key.test(secret)) return verifyKey(secret, remoteAddress)
    throw new Refusal('unauthorized', 'This is not an API key of this service.')
  },
}

function keyIn(authorization: string): string | undefined {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(.*)$/is.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'basic') return ofBasic(value)
  return scheme === '' ? authorization : value
}

/** Returns the value of Basic that has the prefix of a key. Prefers the password if neither has it, so that it is refused as a key. */
function ofBasic(encoded: string): string | undefined {
  if (encoded.length > 16_384) return undefined
  const given = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = given.indexOf(':')
  const [user, password] = colon < 0 ? [given, ''] : [given.slice(0, colon), given.slice(colon + 1)]
  return beginning.test(user) && !beginning.test(password) ? user : password || user || undefined
}
