/** People in the core: a live destination, and mail that stays in the queue. */
import type { ExecutionContext } from 'ava'
import { auditEntries } from '#core/writes/audit.ts'
import { members } from '#core/people/members/member.ts'
import type { People } from '#core/people/people.ts'
import type { SignUp } from '#core/people/sign-in/login-links.ts'
import type { Role } from '#core/access/principal/role.ts'
import { addUser, userByEmail, type User } from '#core/people/users/user.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import type { Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { coreFixture, organizationId, type CoreFixture } from '../core-fixture.ts'

export const browser = { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', cookie: undefined }
export const systemDestinationId = `dst_${'0'.repeat(32)}`

export interface PeopleFixture extends People {
  readonly fixture: CoreFixture
  readonly errors: unknown[]
  /** If `fails` is set, sending mail of the service is interrupted as in a crash. */
  readonly handing: { fails: boolean }
  /** Adds a member to the first organization. */
  member(email: string, role: Role): Promise<User>
  /** Returns the traces and mails of the service, after all of them were passed on. */
  mails(): Promise<{ readonly trace: Trace; readonly raw: string; readonly secret: string }[]>
  /** Returns the names of audit entries. */
  acts(): Promise<string[]>
}

export async function peopleFixture(
  t: ExecutionContext,
  options: { readonly signUp?: SignUp; readonly hasMail?: boolean } = {},
): Promise<PeopleFixture> {
  const { signUp = 'invited', hasMail = true } = options
  const systemMail = { POSTERN_SYSTEM_DESTINATION: systemDestinationId, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' }
  const env = { POSTERN_SIGN_UP: signUp, ...(hasMail && systemMail) }
  const fixture = await coreFixture(t, { deaf: true, publicUrl: 'https://post.example.ch', env })
  const { database, clock, errors } = fixture
  await fixture.destination({ id: systemDestinationId })
  const handing = { fails: false }
  const accept = fixture.accept.accept.bind(fixture.accept)
  fixture.accept.accept = (...given) => (handing.fails ? Promise.reject(new Error('the process ends here')) : accept(...given))
  const all = fixture.part('people')
  t.teardown(() => all.background.idle())
  return {
    ...all,
    ...{ fixture, errors, handing },
    async member(email, role) {
      const change = new Change()
      const user = (await userByEmail(database, email))?.record ?? addUser(database, change, email, clock.now())
      change.insert(members, organizationId, { id: user.id, organizationId, role, joinedAt: clock.now() })
      if (!(await database.commit(change)).ok) throw new Error(`could not add ${email}`)
      return user
    },
    async mails() {
      await all.background.idle()
      return Promise.all(
        fixture.accepted.map(async (trace) => {
          const pieces: Uint8Array[] = []
          for await (const piece of readContent(database, systemOrganizationId, trace.content)) pieces.push(piece)
          const raw = Buffer.concat(pieces).toString('utf8')
          return { trace, raw, secret: /https:\/\/[^\s"<]+\/([\w-]{43})/.exec(raw)?.[1] ?? '' }
        }),
      )
    },
    async acts() {
      const rows = await database.all(auditEntries, { organizationId })
      return rows.map(({ record }) => `${record.actor.kind} ${record.act}`).toSorted()
    },
  }
}
