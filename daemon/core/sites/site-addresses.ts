/** Under which addresses sites are served. */
import { previewHost } from './slug.ts'

export class SiteAddresses {
  readonly domain: string
  readonly #scheme: 'http' | 'https'
  #port = ''

  /** With https, the port is that of the proxy. */
  constructor(domain: string, scheme: 'http' | 'https', port = 443) {
    this.domain = domain
    this.#scheme = scheme
    this.listensAt(port)
  }

  /** A port that was chosen when it was bound. */
  listensAt(port: number): void {
    if (this.#scheme === 'http' && port !== 80) this.#port = `:${port}`
  }

  hostOf(slug: string): string {
    return `${slug}.${this.domain}`
  }

  siteUrl(slug: string): string {
    return `${this.#scheme}://${this.hostOf(slug)}${this.#port}`
  }

  previewUrl(deployId: string, slug: string): string {
    return `${this.#scheme}://${previewHost(deployId, slug, this.domain)}${this.#port}`
  }
}
