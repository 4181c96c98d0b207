/** Pages as operations: for anybody or for who is signed in; forms are taken from pages of this service only. */
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
import { wordsFor, type PageWords } from '../words/words-for.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'

/** What pages need of the core. */
export interface PagesCore {
  readonly people: People
}

/** What makes up every page. */
interface PageFacts {
  readonly path: string
  readonly operationId: string
  readonly summary: string
}

/** A request for a page, or with the content of a form. */
export interface PageRequest {
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>
  /** Of the query; the first one of each name. */
  readonly query: (name: string) => string | undefined
  /** Empty where there is no form. */
  readonly form: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /** In the language of the reader. */
  readonly words: PageWords
  /** Undefined for anonymous requests. */
  readonly signedIn: SignedIn | undefined
}

export type SignedInRequest = PageRequest & { readonly signedIn: SignedIn; readonly visitor: Visitor }

const maxFormBytes = 64 * 1024
const anyQuery = z.looseObject({})

/** Makes the pages of one service. */
export class Pages {
  readonly people: People
  readonly browsers: BrowserSessions

  constructor({ people }: PagesCore) {
    this.people = people
    this.browsers = new BrowserSessions(people)
  }

  /** A page for anybody. */
  open(facts: PageFacts, show: (request: PageRequest) => Promise<Answer> | Answer): Operation {
    return this.#make('GET', facts, show)
  }

  /** A form for anybody, sent by one of our pages. */
  openForm(facts: PageFacts, take: (request: PageRequest) => Promise<Answer> | Answer): Operation {
    return this.#make('POST', facts, (request) => {
      requireSameOrigin(request.headers, this.people.relyingParty.origin)
      return take(request)
    })
  }

  /** A page for who is signed in; others are asked to sign in first, and come back. */
  signedIn(facts: PageFacts, show: (request: SignedInRequest) => Promise<Answer> | Answer): Operation {
    return this.#make('GET', facts, (request, path) => {
      const { signedIn } = request
      return signedIn ? show({ ...request, signedIn, visitor: this.browsers.visitorOf(signedIn) }) : signInFirst(path)
    })
  }

  /**
   * A form of who is signed in. A refusal of what was filled in is shown by `again`, where there is one; where a fresh proof
   * of identity is needed, the user signs in again and comes back to the page that `back` names.
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
      const request = { params: values, query, form, headers, remoteAddress, words: wordsFor(headers), signedIn }
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

/** What of a request makes its address. */
export type PageLocation = Pick<Input, 'params' | 'query'>

/** The path and query of the request, to come back to. */
export function fullPath(path: string, { params, query }: PageLocation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(Object.keys(query).map((name): [string, string] => [name, firstOf(query[name]) ?? ''])).toString()
  return search === '' ? filled : `${filled}?${search}`
}

/** Asks who somebody is, or again who they are, and comes back. */
export const signInFirst = (next: string, again = false): Answer =>
  seeOther(`/sign-in?${new URLSearchParams({ ...(again && { again: '1' }), next }).toString()}`)

/** Goes on to another page, which is then asked for by GET. */
export const seeOther = (path: string, headers: Readonly<Record<string, string>> = {}): Answer =>
  raw('', { contentType: 'text/html; charset=utf-8', status: 303, headers: { location: path, 'cache-control': 'no-store', ...headers } })
