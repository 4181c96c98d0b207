/** URLs of sites and previews. */
import { previewHost } from './slug.ts'

export class SiteAddresses {
  readonly domain: string
  readonly #scheme: 'http' | 'https'
  #port = ''

  /** With https, the proxy's port is used. */
  constructor(domain: string, scheme: 'http' | 'https', port = 443) {
    this.domain = domain
    this.#scheme = scheme
    this.listensAt(port)
  }

  /** Sets the port after binding, if the system chose it. */
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
