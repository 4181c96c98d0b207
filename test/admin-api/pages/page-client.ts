/**
 * An HTTP client that acts like a browser without scripts: it keeps cookies and sends the origin of forms. It does not follow redirects.
 */
import type { PageServer } from './page-server.ts'

export interface Visited {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  readonly location: string
}

export class PageClient {
  readonly #server: Pick<PageServer, 'url' | 'operatorLink'>
  cookie = ''
  /** Value of `Accept-Language`; omitted if empty. */
  language = ''
  /** Headers of every request; by default, the headers of forms on our own pages. */
  origin: Readonly<Record<string, string>>

  /** `origin` of the pages, if it differs from `server.url`. */
  constructor(server: Pick<PageServer, 'url' | 'operatorLink'>, origin = server.url) {
    this.#server = server
    this.origin = { origin }
  }

  get(path: string): Promise<Visited> {
    return this.#ask(path, {})
  }

  post(
    path: string,
    form: Readonly<Record<string, string>> | URLSearchParams = {},
    headers: Readonly<Record<string, string>> = this.origin,
  ): Promise<Visited> {
    return this.#ask(path, { method: 'POST', body: new URLSearchParams(form as Record<string, string>), headers })
  }

  /** Submits a form with the token of a page. */
  async send(page: string, path: string, form: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.post(path, { csrf: await this.csrf(page), ...form })
  }

  async csrf(page = '/organizations'): Promise<string> {
    return /name="csrf"\s+value="([^"]+)"/.exec((await this.get(page)).html)?.[1] ?? ''
  }

  /** Signs in with a link of the operator. */
  async signIn(email: string): Promise<void> {
    await this.post(new URL(await this.#server.operatorLink(email)).pathname)
  }

  async #ask(
    path: string,
    init: { method?: string; body?: URLSearchParams; headers?: Readonly<Record<string, string>> },
  ): Promise<Visited> {
    const headers = {
      ...init.headers,
      ...(this.cookie !== '' && { cookie: this.cookie }),
      ...(this.language !== '' && { 'accept-language': this.language }),
    }
    const response = await fetch(this.#server.url + path.replace(this.#server.url, ''), { ...init, headers, redirect: 'manual' })
    const set = response.headers.get('set-cookie')
    if (set !== null) this.cookie = set.split(';')[0] ?? ''
    return {
      status: response.status,
      headers: response.headers,
      html: await response.text(),
      location: response.headers.get('location') ?? '',
    }
  }
}
