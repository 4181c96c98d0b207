/**
 * REST operations for signed-in users. In addition to bearer tokens, they accept a browser session for the organization in the request.
 * Changes that are hard to undo or that grant access require a recently confirmed session.
 */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import type { People } from '#core/people/people.ts'
import { Refusal } from '#core/refusals.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { noPerson, type AuthenticatePerson } from '../../credentials/authentication.ts'
import { carriesBearer, session, type Credential, type CredentialRequest, type Credentials } from '../../credentials/credentials.ts'
import { isUnscoped, type Operation } from '../../operation/operation.ts'
import { requireSameOrigin } from '../../credentials/same-origin.ts'
import { BrowserSessions } from './browser-session.ts'

/** Header with the organization of a session request; optional for users with one organization. */
const organizationHeader = 'x-organization-id'

/** Operations that require a recently confirmed session: they create keys and logins, change members, or delete more than one object. */
const confirmed: ReadonlySet<string> = new Set([
  ...['createApiKey', 'updateApiKey', 'rotateApiKey'],
  ...['createSmtpCredential', 'rotateSmtpCredential'],
  ...['createPublishableKey', 'rotatePublishableKey'],
  ...['createInvitation', 'resendInvitation', 'updateMember', 'deleteMember'],
  ...['createOrganization', 'deleteOrganization', 'deleteProject'],
])

/** Returns the operations; every operation that accepts bearer tokens also accepts sessions. */
export function withSessions<C>(operations: readonly Operation<C>[], people: People): readonly Operation<C>[] {
  for (const id of confirmed)
    assert(
      operations.some(({ operationId }) => operationId === id),
      `no operation ${id}`,
    )
  const [plain, recent] = [sessionCredential(people, false), sessionCredential(people, true)]
  return operations.map((served) => {
    const { scope, credentials = ['bearer'], operationId } = served
    if (isUnscoped(scope) || !credentials.includes('bearer')) return served
    const extended: Credentials<C> = [...credentials, confirmed.has(operationId) ? recent : plain]
    return { ...served, credentials: extended }
  })
}

/**
 * Authenticates operations of a person, who may have no organization. Only sessions are accepted, because keys and applications have no
 * account. Changes must come from a page of this service.
 */
export function personAuthentication(people: People): AuthenticatePerson {
  const browsers = new BrowserSessions(people)
  return async ({ method, headers }) => {
    const signedIn = carriesBearer({ headers }) ? undefined : await browsers.read(headers)
    if (!signedIn) return noPerson()
    if (method !== 'GET' && method !== 'HEAD') requireSameOrigin(headers, people.relyingParty.origin)
    return signedIn
  }
}

/**
 * Requires a recently confirmed session for these operations on surfaces that find the operation in the body, such as GraphQL. Does
 * nothing for requests without a session. Throws `unauthorized`.
 */
export const requireConfirmed =
  (people: People) =>
  async (operationId: string, headers: IncomingHttpHeaders): Promise<void> => {
    if (!confirmed.has(operationId) || carriesBearer({ headers })) return
    const signedIn = await new BrowserSessions(people).read(headers)
    if (signedIn) people.sessions.requireFresh(signedIn.session)
  }

function sessionCredential(people: People, isConfirmed: boolean): Credential {
  return session({
    cookie: new BrowserSessions(people).cookieName,
    ownOrigin: people.relyingParty.origin,
    async authenticate(cookie, request) {
      const signedIn = await people.sessions.read(cookie)
      if (!signedIn) throw new Refusal('unauthorized', 'This session has ended. Sign in again.', { nextAction: 'sign_in' })
      const principal = await principalOf(people, signedIn.user.id, request)
      if (isConfirmed) people.sessions.requireFresh(signedIn.session)
      return principal
    },
  })
}

async function principalOf({ members }: People, userId: string, { headers }: CredentialRequest): Promise<Principal> {
  const named = headers[organizationHeader]
  if (typeof named === 'string') return members.principalOf(userId, named)
  const [only, ...others] = await members.organizationsOf(userId)
  if (only && others.length === 0) return members.principalOf(userId, only.organization.id)
  if (!only) throw new Refusal('insufficient_scope', 'You are not a member of an organization. Ask for an invitation.')
  throw new Refusal(
    'validation_failed',
    'You are a member of several organizations. Send the id of one of them in the X-Organization-Id header.',
  )
}
