/** Users: people who sign in. They exist once in the whole service, whatever organizations they are members of. */
import { addressProblem } from '#config/mail/address-problem.ts'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress, parseExactAddress } from '../../addresses.ts'
import { invalid, Refusal } from '../../refusals.ts'

/** As people belong to no organization, users and login links share a partition; a user's rows lie under their id. */
export const peoplePartition = 'people'

const schema = z.strictObject({
  id: z.string(),
  /** Folded to lower case; it names the user, who has proved it unless `isUnproved` says otherwise. */
  email: z.string(),
  /** The user came by an invitation that was handed over: nothing is theirs for their address alone until a sign-in link proves it. */
  isUnproved: z.literal(true).optional(),
  /** What others see; empty until the user says. */
  name: z.string(),
  createdAt: z.int(),
  signedInAt: z.int().nullable(),
  /** The user wants no mail about messages that wait for an approval. */
  noApprovalMail: z.literal(true).optional(),
})

export type User = Immutable<z.infer<typeof schema>>

export const users = defineRecord<User>({
  name: 'user',
  schema,
  unique: { email: (user) => [[user.email]] },
})

const people = { organizationId: peoplePartition }
export const maxUserName = 100

/** An address as users are known by. Throws `validation_failed` for what is none. */
export function identityOf(email: string): string {
  const mailbox = parseExactAddress(email)
  if (mailbox) return foldAddress(mailbox.address)
  throw invalid([{ path: 'email', message: addressProblem(email) ?? 'must be an email address such as name@example.org' }])
}

export const userById = async (database: Database, id: string): Promise<User | undefined> => (await database.get(users, people, id))?.record

/** `email` is folded already. */
export const userByEmail = (database: Database, email: string): Promise<Stored<User> | undefined> =>
  database.find(users, people, 'email', [email])

/** Adds a user to the write, who has proved the address by default. */
export function addUser(database: Database, change: Change, email: string, now: number, { isUnproved = false } = {}): User {
  const user: User = { id: database.newId('usr', now), email, ...(isUnproved && { isUnproved }), name: '', createdAt: now, signedInAt: now }
  change.insert(users, peoplePartition, user)
  return user
}

/** Notes that a user has signed in. */
export function noteSignIn(change: Change, stored: Stored<User>, now: number): User {
  const user = { ...stored.record, signedInAt: now }
  change.rewrite(users, peoplePartition, stored, user)
  return user
}

/** Notes that a user has signed in by a link to the address, which proves it. */
export function noteVerifiedSignIn(change: Change, stored: Stored<User>, now: number): User {
  const { isUnproved: _, ...rest } = stored.record
  const user = { ...rest, signedInAt: now }
  change.rewrite(users, peoplePartition, stored, user)
  return user
}

/** Puts another name in the write. Throws `not_found`. */
export async function renameUser(database: Database, change: Change, id: string, name: string): Promise<void> {
  const stored = await database.get(users, people, id)
  if (!stored) throw new Refusal('not_found', 'No user has this address.')
  change.rewrite(users, peoplePartition, stored, { ...stored.record, name })
}
