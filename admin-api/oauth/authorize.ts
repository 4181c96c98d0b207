/** The authorization endpoint, for people in browsers (RFC 6749 §3.1): checks the request, and lets the pages ask. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Authorizations, PendingAuthorization } from '#core/oauth/endpoints/authorizations.ts'
import type { OAuthError } from '#core/oauth/protocol/oauth-error.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { formBody, readForm } from '../bodies/form-body.ts'
import { operation, type Operation, type ErrorRenderer } from '../operation/operation.ts'
import { oauthPaths } from './paths.ts'

/** What the pages may know of the request. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders
  readonly remoteAddress: string
  /** The query as it came, for a form that posts back to the same address. */
  readonly query: string
}

/**
 * The pages that people see: signing in and consent. Whoever makes them ends with `redirectTo` of what `Authorizations.approve`
 * or `deny` answers. They find out who is there, and keep forms from being sent by other sites.
 */
export interface AuthorizationUi {
  /** A request that is in order: shows a page, or redirects at once. */
  ask(pending: PendingAuthorization, request: PageRequest): Answer | Promise<Answer>
  /** What a person sent from the page; the request was checked again. */
  decide(pending: PendingAuthorization, request: PageRequest, form: URLSearchParams): Answer | Promise<Answer>
  /** A request that may not be redirected anywhere, because it is not clear who asks. */
  problem(error: OAuthError, request: Pick<PageRequest, 'headers'>): Answer
  /** Renders refusals as a page. */
  readonly errorRenderer?: ErrorRenderer
}

/** Sends the browser on. The address holds a code, so it is not cached, and the next site does not learn where it came from. */
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

/** With every value of a parameter that came more than once. */
function toSearch(query: Readonly<Record<string, unknown>>): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, values] of Object.entries(query)) for (const value of [values].flat()) search.append(name, String(value))
  return search
}
