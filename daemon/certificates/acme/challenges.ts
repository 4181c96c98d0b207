/** What a certificate authority asks to see while it validates names. */
import { createSecureContext, type SecureContext } from 'node:tls'

/** The protocol of TLS-ALPN-01 (RFC 8737 §3). */
export const acmeProtocol = 'acme-tls/1'

/** Shows what the authority wants to see, from when it resolves. */
export interface Shown {
  showText(token: string, keyAuthorization: string): Promise<void>
  /** Both in PEM. */
  showCertificate(name: string, pair: { readonly cert: Buffer; readonly key: Buffer }): Promise<void>
  /** The order has ended, however. */
  clear(): Promise<void>
  /** Shows what an order of another daemon wants to be shown now. */
  load(): Promise<void>
}

export class Challenges implements Shown {
  readonly #texts = new Map<string, string>()
  readonly #contexts = new Map<string, SecureContext>()

  /** The key authorization of a token, for HTTP-01 (RFC 8555 §8.3). */
  textOf(token: string): string | undefined {
    return this.#texts.get(token)
  }

  /** The certificate for a name in TLS-ALPN-01 (RFC 8737 §3). */
  contextOf(name: string): SecureContext | undefined {
    return this.#contexts.get(name.toLowerCase())
  }

  async showText(token: string, keyAuthorization: string): Promise<void> {
    this.#texts.set(token, keyAuthorization)
  }

  async showCertificate(name: string, pair: { readonly cert: Buffer; readonly key: Buffer }): Promise<void> {
    this.#contexts.set(name.toLowerCase(), createSecureContext(pair))
  }

  async load(): Promise<void> {}

  async clear(): Promise<void> {
    this.#texts.clear()
    this.#contexts.clear()
  }
}
