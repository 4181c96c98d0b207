/** The outcome of a request as short text for a table. */
import type { ExecutionContext } from 'ava'
import { baseUrl } from '../rest/fixture/rest-fixture.ts'
import { encode, issuer, type Fields, type OAuthFixture, type Reply } from './oauth-fixture.ts'

/** A case of a table: action and expected outcome. */
export type Case = readonly [what: string, outcome: string, run: (fixture: OAuthFixture) => Promise<string>]

/** Runs a table against one service; each row has a unique name. */
export async function runCases(t: ExecutionContext, fixture: OAuthFixture, cases: readonly Case[]): Promise<void> {
  for (const [what, outcome, run] of cases) t.is(await run(fixture), outcome, what)
}

/** Returns an outcome such as `400 invalid_grant`. Checks that errors have the format of OAuth. */
export function outcomeOf({ status, headers, body }: Reply): string {
  if (status < 400) return String(status)
  const { error, error_description: description } = body
  const isReadable = typeof description === 'string' && /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(description)
  const isUnkept = headers.get('cache-control') === 'no-store' && headers.get('access-control-allow-origin') === '*'
  return `${status} ${typeof error === 'string' && isReadable && isUnkept ? error : JSON.stringify(body)}`
}

/** Returns `page …` without a redirect, or `redirect …` for an error with issuer and state. */
export async function ask(fixture: OAuthFixture, query: Fields | URLSearchParams): Promise<string> {
  const search = query instanceof URLSearchParams ? query : encode(query)
  const response = await fixture.fetch(`${baseUrl}/oauth/authorize?${search.toString()}`, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location?.startsWith('/sign-in')) return 'asked'
  if (location === null) {
    const check = await fixture.server.authorizations.check(search, '127.0.0.1')
    return response.status >= 400 && check.kind === 'problem' ? `page ${check.error.error}` : `${response.status}`
  }
  const { searchParams: told } = new URL(location)
  const state = search.getAll('state').length === 1 ? search.get('state') : null
  const isBound = told.get('iss') === issuer && told.get('state') === state && !told.has('code')
  return `redirect ${isBound ? String(told.get('error')) : location}`
}
