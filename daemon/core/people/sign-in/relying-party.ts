/** Identity of the service towards browsers and authenticators. WebAuthn Level 3 §4. */
import { isIP } from 'node:net'

export interface RelyingParty {
  /** Scheme, host and port in the form that browsers send. */
  readonly origin: string
  /** Whether cookies can use the `Secure` attribute and the `__Host-` prefix. */
  readonly isHttps: boolean
  /** Host name that passkeys are bound to. Undefined if browsers support no passkeys at the URL: without https, or at an IP address. */
  readonly id: string | undefined
}

/** Derives the identity from the public URL of the service. */
export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { origin, hostname, protocol } = new URL(publicUrl)
  const isHttps = protocol === 'https:'
  const hasPasskeys = (isHttps || hostname === 'localhost') && isIP(hostname) === 0 && !hostname.startsWith('[')
  return { origin, isHttps, id: hasPasskeys ? hostname : undefined }
}
