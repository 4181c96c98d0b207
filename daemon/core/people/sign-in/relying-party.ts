/** As what the service presents itself to browsers and authenticators. WebAuthn Level 3 §4. */
import { isIP } from 'node:net'

export interface RelyingParty {
  /** Scheme, host and port, as browsers write them. */
  readonly origin: string
  /** Cookies may be bound to this host and kept from unprotected connections. */
  readonly isHttps: boolean
  /** The host by which passkeys are bound; undefined where browsers have none, at an IP address. */
  readonly id: string | undefined
}

/** From the public address of the service. */
export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { origin, hostname, protocol } = new URL(publicUrl)
  const isHttps = protocol === 'https:'
  const hasPasskeys = (isHttps || hostname === 'localhost') && isIP(hostname) === 0 && !hostname.startsWith('[')
  return { origin, isHttps, id: hasPasskeys ? hostname : undefined }
}
