/** Pages as operations, for all visitors or for signed-in users. Forms are accepted only from pages of this service. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { People } from '#core/people/people.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import { Refusal } from '#core/refusals.ts'
import { media, raw, type Answer } from '../../operation/answer.ts'
import { formBody, readForm } from '../../bodies/form-body.ts'
import { operation, pathParameters, type Operation } from '../../operation/operation.ts'
import { BrowserSessions } from './browser-session.ts'
import type { Visitor } from '../layout/layout.ts'
import { refusalPage } from '../layout/refusal-page.ts'
import { textsFor, type PageTexts } from '../texts/texts-for.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'

/** The part of the core that pages use. */
export interface PagesCore {
  readonly people: People
}

/** Common properties of a page. */
interface PageFacts {
  readonly path: string
  readonly operationId: string
  readonly summary: string
}

/** A request for a page or a submitted form. */
export interface PageRequest {
  /** Parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  /** Returns the first query parameter of a name. */
  readonly query: (name: string) => string | undefined
  /** Empty without a form. */
  readonly form: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /** In the language of the reader. */
  readonly texts: PageTexts
  /** Undefined for anonymous requests. */
  readonly signedIn: SignedIn | undefined
}

export type SignedInRequest = PageRequest & { readonly signedIn: SignedIn; readonly visitor: Visitor }

const maxFormBytes = 64 * 1024
const anyQuery = z.looseObject({})

/** Creates the pages of one service. */
export class Pages {
  readonly people: People
  readonly browsers: BrowserSessions

  constructor({ people }: PagesCore) {
    this.people = people
    this.browsers = new BrowserSessions(people)
  }

  /** Creates a page for all visitors. `address` is the path with its query. */
  open(facts: PageFacts, show: (request: PageRequest, address: string) => Promise<Answer> | Answer): Operation {
    return this.#make('GET', facts, show)
  }

  /** Creates a form for all visitors; it must come from a page of this service. */
  openForm(facts: PageFacts, take: (request: PageRequest) => Promise<Answer> | Answer): Operation {
    return this.#make('POST', facts, (request) => {
      requireSameOrigin(request.headers, this.people.relyingParty.origin)
      return take(request)
    })
  }

  /** Creates a page for signed-in users. Other visitors sign in first and then return to it. */
  signedIn(facts: PageFacts, show: (request: SignedInRequest) => Promise<Answer> | Answer): Operation {
    return this.#make('GET', facts, (request, path) => {
      const { signedIn } = request
      return signedIn ? show({ ...request, signedIn, visitor: this.browsers.visitorOf(signedIn) }) : signInFirst(path)
    })
  }

  /**
   * Creates a form for signed-in users. `again`, if present, shows the form with a refusal. If the session must be confirmed, the user
   * signs in again and returns to the page of `back`.
   */
  form(
    facts: PageFacts & { readonly back: (params: Readonly<Record<string, string>>) => string },
    take: (request: SignedInRequest) => Promise<Answer> | Answer,
    again?: (request: SignedInRequest, refusal: Refusal) => Promise<Answer>,
  ): Operation {
    return this.#make('POST', facts, async (request) => {
      const { signedIn, headers, form, params } = request
      requireSameOrigin(headers, this.people.relyingParty.origin)
      if (!signedIn) return signInFirst(facts.back(params))
      this.people.sessions.requireCsrfToken(signedIn.session, form.get('csrf') ?? '')
      const known = { ...request, signedIn, visitor: this.browsers.visitorOf(signedIn) }
      try {
        return await take(known)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        if (error.nextAction === 'sign_in_again') return signInFirst(facts.back(params), true)
        const isFilledIn = error.code === 'validation_failed' || error.code === 'conflict'
        if (again && isFilledIn) return await again(known, error)
        throw error
      }
    })
  }

  #make(method: 'GET' | 'POST', facts: PageFacts, run: (request: PageRequest, path: string) => Promise<Answer> | Answer): Operation {
    const { path, operationId, summary } = facts
    const params = paramsOf(path)
    const common = {
      ...{ path, operationId, summary, params, tags: ['pages'], hiddenFromOpenApi: true, errorRenderer: refusalPage },
      scope: 'none',
      query: anyQuery,
      response: media('text/html'),
    } as const
    const answer = async (input: Input, form: URLSearchParams): Promise<Answer> => {
      const signedIn = await this.browsers.read(input.headers)
      const query = (name: string): string | undefined => firstOf(input.query[name])
      const { params: values, headers, remoteAddress } = input
      const request = { params: values, query, form, headers, remoteAddress, texts: textsFor(headers), signedIn }
      return this.browsers.kept(await run(request, fullPath(path, input)), signedIn, input.headers)
    }
    if (method === 'GET') return operation({ ...common, method, handle: (input) => answer(input as Input, new URLSearchParams()) })
    return operation({
      ...common,
      method,
      maxBodyBytes: maxFormBytes,
      body: formBody,
      handle: async (input) => answer(input as Input, await readForm(input.body)),
    })
  }
}

const pathValue = z.string().max(200)
const paramsOf = (path: string): z.ZodObject => z.strictObject(Object.fromEntries(pathParameters(path).map((name) => [name, pathValue])))

interface Input {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
}

const firstOf = (value: unknown): string | undefined => {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}

/** The parts of a request that form its address. */
export type PageLocation = Pick<Input, 'params' | 'query'>

/** Returns the path and query of the request, to return to it later. */
export function fullPath(path: string, { params, query }: PageLocation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(Object.keys(query).map((name): [string, string] => [name, firstOf(query[name]) ?? ''])).toString()
  return search === '' ? filled : `${filled}?${search}`
}

/** Redirects to the sign-in page and then back; `again` requires a new sign-in of a signed-in user. */
export const signInFirst = (next: string, again = false): Answer =>
  seeOther(`/sign-in?${new URLSearchParams({ ...(again && { again: '1' }), next }).toString()}`)

/** Redirects to another page with GET. */
export const seeOther = (path: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  raw('', { contentType: 'text/html; charset=utf-8', status: 303, headers: { location: path, 'cache-control': 'no-store', ...headers } })
