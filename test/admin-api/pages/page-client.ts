/** A browser without scripts as far as the wire goes: it keeps cookies and says where its forms are from. Nothing is followed by itself. */
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
  /** The value of Accept-Language; none where it is empty. */
  language = ''
  /** Headers of every request; those of forms from our own pages by default. */
  origin: Readonly<Record<string, string>>

  /** `origin`: of the pages, where they have another address than `server.url`. */
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

  /** Sends a form with the token that stands in a page. */
  async send(page: string, path: string, form: Readonly<Record<string, string>> = {}): Promise<Visited> {
    return this.post(path, { csrf: await this.csrf(page), ...form })
  }

  async csrf(page = '/organizations'): Promise<string> {
    return /name="csrf"\s+value="([^"]+)"/.exec((await this.get(page)).html)?.[1] ?? ''
  }

  /** Signs in by a link of the operator. */
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
