/** People over the house of the core's tests: a destination that is live, mail that stays in the queue, and two organizations. */
import type { ExecutionContext } from 'ava'
import { Audit, auditEntries } from '#core/writes/audit.ts'
import { members } from '#core/people/members/member.ts'
import { people, type People } from '#core/people/people.ts'
import type { SignUp } from '#core/people/sign-in/login-links.ts'
import type { Role } from '#core/access/scope/role.ts'
import { addUser, userByEmail, type User } from '#core/people/users/user.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { Accept } from '#core/submission/accept/accept.ts'
import type { Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { noTracking } from '../no-parsers.ts'
import { houseOf, organizationId, secrets, type House } from '../house.ts'

export const browser = { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', cookie: undefined }
export const systemDestinationId = 'dst_system'

export interface PeopleHouse extends People {
  readonly house: House
  readonly writes: SettingWrites
  readonly policies: Policies
  readonly errors: unknown[]
  /** Whether handing over mail of the service breaks off, as in a crash. */
  readonly handing: { fails: boolean }
  /** A member of the first organization. */
  member(email: string, role: Role): Promise<User>
  /** Traces of the service's own mail, once all is handed over, and the mails themselves. */
  mails(): Promise<{ readonly trace: Trace; readonly raw: string; readonly secret: string }[]>
  /** Acts of the audit log, by name. */
  acts(): Promise<string[]>
}

export async function peopleHouse(
  t: ExecutionContext,
  options: { readonly signUp?: SignUp; readonly hasMail?: boolean } = {},
): Promise<PeopleHouse> {
  const house = await houseOf(t, { deaf: true })
  const { database, clock } = house
  const { signUp = 'invited', hasMail = true } = options
  const systemMail = hasMail ? { destination: systemDestinationId, from: 'Post <post@example.ch>' } : { destination: null, from: null }
  await house.destination({ id: systemDestinationId })
  const policies = new Policies(database, systemMail.destination)
  const writes = new SettingWrites(database, new Audit({ database, clock }))
  const traces: Trace[] = []
  const listener = { accepted: (trace: Trace) => void traces.push(trace), queued() {}, captured() {} }
  const accept = new Accept({ database, policies, clock, secrets, ...noTracking, listener, recipientsMax: 10, messageBytesMax: 1_000_000 })
  const errors: unknown[] = []
  const handing = { fails: false }
  const failing = (...given: Parameters<Accept['accept']>) =>
    handing.fails ? Promise.reject(new Error('the process ends here')) : accept.accept(...given)
  const onError = (error: unknown): void => void errors.push(error)
  const all = people({
    database,
    writes,
    policies,
    secrets,
    clock,
    accept: Object.create(accept, { accept: { value: failing } }) as Accept,
    baseUrl: 'https://post.example.ch',
    signUp,
    systemMail,
    onError,
  })
  t.teardown(() => all.background.idle())
  return {
    ...all,
    ...{ house, writes, policies, errors, handing },
    async member(email, role) {
      const change = new Change()
      const user = (await userByEmail(database, email))?.record ?? addUser(change, email, clock.now())
      change.insert(members, organizationId, { id: user.id, organizationId, role, joinedAt: clock.now() })
      if (!(await database.commit(change)).ok) throw new Error(`could not add ${email}`)
      return user
    },
    async mails() {
      await all.background.idle()
      return Promise.all(
        traces.map(async (trace) => {
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
