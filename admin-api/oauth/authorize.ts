/** The authorization endpoint for browsers (RFC 6749 §3.1): validates the request and delegates to the pages. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Authorizations, PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import type { OAuthError } from '#core/oauth/protocol/oauth-error.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { formBody, readForm } from '../bodies/form-body.ts'
import { operation, type Operation, type ErrorRenderer } from '../operation/operation.ts'
import { oauthPaths } from './paths.ts'

/** The part of the request that pages receive. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /** The original query, for a form that posts to the same URL. */
  readonly query: string
}

/**
 * The pages for sign-in and consent. An implementation ends with `redirectTo` of the result of `Authorizations.approve` or `deny`. It
 * authenticates the user and rejects forms of other sites.
 */
export interface AuthorizationUi {
  /** Handles a valid request: shows a page, or redirects at once. */
  ask(pending: PendingAuthorization, request: PageRequest): Answer | Promise<Answer>
  /** Handles the form of the page; the request is validated again before. */
  decide(pending: PendingAuthorization, request: PageRequest, form: URLSearchParams): Answer | Promise<Answer>
  /** Handles a request that must not be redirected, since its client is not verified. */
  problem(error: OAuthError, request: Pick<PageRequest, 'headers'>): Answer
  /** Renders refusals as a page. */
  readonly errorRenderer?: ErrorRenderer
}

/** Redirects the browser. The URL contains a code, so the response is not cached and sends no referrer. */
export const redirectTo = (location: string): Answer =>
  raw('', { contentType: 'text/plain', status: 303, headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } })

const shown = {
  path: oauthPaths.authorize,
  tags: ['oauth'],
  scope: 'none',
  hiddenFromOpenApi: true,
  query: z.looseObject({}),
  response: media('text/html'),
} as const

export function authorizeOperations(authorizations: Authorizations, ui: AuthorizationUi): readonly Operation[] {
  const checked = async (
    query: URLSearchParams,
    { headers, remoteAddress }: Pick<PageRequest, 'headers' | 'remoteAddress'>,
    go: (pending: PendingAuthorization) => Answer | Promise<Answer>,
  ) => {
    const check = await authorizations.check(query, remoteAddress)
    if (check.kind === 'pending') return go(check.pending)
    return check.kind === 'redirect' ? redirectTo(check.location) : ui.problem(check.error, { headers })
  }
  const common = { ...shown, ...(ui.errorRenderer && { errorRenderer: ui.errorRenderer }) }
  return [
    operation({
      ...common,
      method: 'GET',
      operationId: 'askForAuthorization',
      summary: 'Show the consent page',
      handle({ query, headers, remoteAddress }) {
        const search = toSearch(query)
        return checked(search, { headers, remoteAddress }, (pending) =>
          ui.ask(pending, { headers, remoteAddress, query: search.toString() }),
        )
      },
    }),
    operation({
      ...common,
      method: 'POST',
      operationId: 'decideAuthorization',
      summary: 'Approve or deny a client',
      maxBodyBytes: 16_384,
      body: formBody,
      async handle({ query, headers, remoteAddress, body }) {
        const search = toSearch(query)
        const form = await readForm(body)
        return checked(search, { headers, remoteAddress }, (pending) =>
          ui.decide(pending, { headers, remoteAddress, query: search.toString() }, form),
        )
      },
    }),
  ]
}

/** Includes all values of repeated parameters. */
function toSearch(query: Readonly<Record<string, unknown>>): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, values] of Object.entries(query)) for (const value of [values].flat()) search.append(name, String(value))
  return search
}
