/** A person with a browser, reduced to its HTTP requests: opens links and submits forms. */
import { runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'

/** Fields of the form with this name, unparsed. */
const inputsOf = (html: string, name: string): readonly string[] =>
  [...html.matchAll(/<input\b[^>]*>/g)].map(([tag]) => tag).filter((tag) => tag.includes(`name="${name}"`))

const valueIn = (tag = ''): string => /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? ''
const valueOf = (html: string, name: string): string => valueIn(inputsOf(html, name)[0])

export class Person {
  readonly #origin: string
  #cookie = ''
  /** The organization that the person took over. */
  #organization = ''

  private constructor(origin: string) {
    this.#origin = origin
  }

  /** Signs in by a link of the operator. The first person owns the first organization. */
  static async signIn(options: DaemonOptions, origin: string, email: string): Promise<Person> {
    const { output } = await runCommand(options, 'login-link', email)
    const person = new Person(origin)
    const link = /http:\/\/\S+\/sign-in\/link\/[\w-]{43}/.exec(output)?.[0] ?? ''
    const response = await person.#fetch(link, { method: 'POST', body: new URLSearchParams() })
    person.#cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return person
  }

  /** Fills in the form of a page and submits it. */
  async allow(path: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const csrf = valueOf(await this.#read(this.#origin + path), 'csrf')
    const { status, headers } = await this.#send(this.#origin + path, [['csrf', csrf], ...Object.entries(fields)])
    this.#organization = /org_[0-9a-f]+/.exec(headers.get('location') ?? '')?.[0] ?? ''
    return status
  }

  /**
   * Allows all requested permissions of an application, in the first project and organization of the page. Returns the address of the
   * redirect.
   */
  async consent(url: string | URL): Promise<URL> {
    const page = await this.#read(String(url))
    const requested = new URL(url).searchParams.get('scope')?.split(' ') ?? []
    const offered = [...new Set(inputsOf(page, 'scope').map(valueIn))]
    const highest = offered.findLastIndex((scope) => requested.includes(scope))
    const preselected = inputsOf(page, 'scope').filter((tag) => /\bchecked\b/.test(tag))
    const scopes = highest < 0 ? preselected.map(valueIn) : offered.slice(0, highest + 1)
    const fields = [
      ['csrf', valueOf(page, 'csrf')],
      ['decision', 'allow'],
      ['place', /<option value="(org_[^"]+)"/.exec(page)?.[1] ?? ''],
      ...scopes.map((scope) => ['scope', scope]),
      ...(scopes.includes('mcp:admin') ? inputsOf(page, 'organization').map((tag) => ['organization', valueIn(tag)]) : []),
    ] as [string, string][]
    const { status, headers } = await this.#send(String(url), fields)
    const location = headers.get('location')
    if (location === null) throw new Error(`${status} without a place to go: ${page.slice(0, 2000)}`)
    return new URL(location)
  }

  /** Sends a change as a dashboard screen does. */
  async change(path: string, body: object): Promise<number> {
    const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-organization-id': this.#organization }
    return (await this.#fetch(this.#origin + path, { method: 'PATCH', headers, body: JSON.stringify(body) })).status
  }

  /** Looks at the page of a message that waits, takes it as a file, and presses a button of the page. */
  async decide(
    link: string,
    verb: 'approve' | 'refuse',
  ): Promise<{ readonly page: string; readonly file: string; readonly status: number }> {
    const page = await this.#read(link)
    const file = await this.#read(new URL(/href="([^"]+\/raw)"/.exec(page)?.[1] ?? '', link).href)
    const fields = ['csrf', 'digest'].map((name): [string, string] => [name, valueOf(page, name)])
    const { status } = await this.#send(`${link}/${verb}`, fields)
    return { page, file, status }
  }

  async #read(url: string): Promise<string> {
    return (await this.#fetch(url, {})).text()
  }

  #send(url: string, fields: readonly [string, string][]): Promise<Response> {
    return this.#fetch(url, { method: 'POST', body: new URLSearchParams([...fields]) })
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    const headers = { origin: this.#origin, cookie: this.#cookie, ...(init.headers as Record<string, string>) }
    return fetch(url, { ...init, redirect: 'manual', headers })
  }
}
