/** Challenge responses for a certificate authority while it validates names. */
import { createSecureContext, type SecureContext } from 'node:tls'

/** ALPN protocol of TLS-ALPN-01 (RFC 8737 §3). */
export const acmeProtocol = 'acme-tls/1'

/** Publishes challenge responses. A response is available when the promise resolves. */
export interface Shown {
  showText(token: string, keyAuthorization: string): Promise<void>
  /** `cert` and `key` are PEM. */
  showCertificate(name: string, pair: { readonly cert: Buffer; readonly key: Buffer }): Promise<void>
  /** Removes all responses after an order, whether it succeeded or not. */
  clear(): Promise<void>
  /** Loads the responses of an order of another daemon. */
  load(): Promise<void>
}

export class Challenges implements Shown {
  readonly #texts = new Map<string, string>()
  readonly #contexts = new Map<string, SecureContext>()

  /** Returns the key authorization of a token, for HTTP-01 (RFC 8555 §8.3). */
  textOf(token: string): string | undefined {
    return this.#texts.get(token)
  }

  /** Returns the certificate for a name, for TLS-ALPN-01 (RFC 8737 §3). */
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
