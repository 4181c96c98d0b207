/** Claims in the core: sandboxes, their agents, and users who claim them. */
import type { ExecutionContext } from 'ava'
import type { Principal } from '#core/access/principal/principal.ts'
import { Claims } from '#core/claims/claims.ts'
import { Sandboxes, type NewSandbox } from '#core/oauth/endpoints/sandboxes.ts'
import type { SignUp } from '#core/people/sign-in/login-links.ts'
import { addUser, type User } from '#core/people/users/user.ts'
import { destinations } from '#core/routing/destination.ts'
import { organizations } from '#core/tenancy/organization.ts'
import { Refusal } from '#core/refusals.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { organizationId } from '../core-fixture.ts'
import { peopleFixture, systemDestinationId, type PeopleFixture } from '../people/people-fixture.ts'

export interface ClaimFixture extends PeopleFixture {
  readonly database: Database
  readonly claims: Claims
  readonly sandboxes: Sandboxes
  readonly clock: PeopleFixture['fixture']['clock']
  /** A sandbox, and the principal of its agent. */
  sandbox(): Promise<NewSandbox & { readonly principal: Principal }>
  /** Adds a user who has signed in before. */
  user(email: string): Promise<User>
}

export async function claimFixture(
  t: ExecutionContext,
  options: { readonly signUp?: SignUp; readonly hasMail?: boolean } = {},
): Promise<ClaimFixture> {
  const setup = await peopleFixture(t, { signUp: 'open', ...options })
  const { database, clock, part } = setup.fixture
  await putFirst(database)
  const { sandboxes } = part('oauth')
  return {
    ...{ ...setup, database, clock, sandboxes, claims: part('claims') },
    async sandbox() {
      const made = await sandboxes.make(['mcp:read', 'mcp:send-sandbox', 'api:read', 'api:send'], 'rest', '192.0.2.1')
      const { organizationId, grant } = made
      const scopes = ['api:read', 'api:send'] as const
      const principal: Principal = {
        ...{ organizationId, projectId: grant.projectId, bound: true, scopes, credentialId: grant.id },
        holder: { kind: 'anonymous' },
      }
      return { ...made, principal }
    },
    async user(email) {
      const change = new Change()
      const user = addUser(database, change, email, clock.now())
      await database.commit(change)
      return user
    },
  }
}

/**
 * Ids of sandboxes begin with a time and would sort before the organization of the fixture, which must be the first one, since it owns mail
 * of the service.
 */
async function putFirst(database: Database): Promise<void> {
  const id = 'org_0'
  const reach = { organizationId }
  const [own, destination] = await Promise.all([
    database.get(organizations, reach, organizationId),
    database.get(destinations, reach, systemDestinationId),
  ])
  if (!own || !destination) throw new Error('the house has no destination for mail of the service')
  const change = new Change().insert(organizations, id, { ...own.record, id }).insert(destinations, id, destination.record)
  await database.commit(change)
}

/** Returns the code of the refusal that ends the work. */
export const codeOf = async (t: ExecutionContext, work: Promise<unknown>): Promise<string> =>
  (await t.throwsAsync(work, { instanceOf: Refusal })).code
