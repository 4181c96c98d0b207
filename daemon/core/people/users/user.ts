/** Record of a user: a person who can sign in. One user can be a member of several organizations. */
import { addressProblem } from '#config/mail/address-problem.ts'
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { defineRecord, type Stored, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress, parseExactAddress } from '../../addresses.ts'
import { invalid, Refusal } from '../../refusals.ts'

/** Partition of users and login links, because users belong to no organization. Other rows of a user have the user's id as partition. */
export const peoplePartition = 'people'

const schema = z.strictObject({
  id: z.string(),
  /** Folded to lower case; identifies the user. The user has proved the address unless `isUnproved` is set. */
  email: z.string(),
  /**
   * The user joined by a handed-over invitation. Until a sign-in link proves the address, the address alone gives no access to anything.
   */
  isUnproved: z.literal(true).optional(),
  /** Display name; empty until the user enters it. */
  name: z.string(),
  createdAt: z.int(),
  signedInAt: z.int().nullable(),
  /** The user declined mail about messages that wait for approval. */
  noApprovalMail: z.literal(true).optional(),
  /** The user declined mail about findings of the organization. */
  noAlertMail: z.literal(true).optional(),
})

export type User = Immutable<z.infer<typeof schema>>

export const users = defineRecord<User>({
  name: 'user',
  schema,
  unique: { email: (user) => [[user.email]] },
})

const people = { organizationId: peoplePartition }
export const maxUserName = 100

/** Returns the trimmed name of a user or an organization. Throws `validation_failed` if it is too long or has more than one line. */
export function readName(text: string, path: string): string {
  const name = text.trim()
  if (name.length <= maxUserName && !/[\p{Cc}\u2028\u2029]/u.test(name)) return name
  throw invalid([{ path, message: `must be on one line, with at most ${maxUserName} characters` }])
}

/** Returns the trimmed name of an organization. Throws `validation_failed` if it is empty, too long, or has more than one line. */
export function readOrganizationName(text: string): string {
  const name = readName(text, 'organization')
  if (name !== '') return name
  throw invalid([{ path: 'organization', message: 'is required' }])
}

/** Returns the address in the form that identifies users. Throws `validation_failed` for an invalid address. */
export function identityOf(email: string): string {
  const mailbox = parseExactAddress(email)
  if (mailbox) return foldAddress(mailbox.address)
  throw invalid([{ path: 'email', message: addressProblem(email) ?? 'must be an email address such as name@example.org' }])
}

export const userById = async (database: Database, id: string): Promise<User | undefined> => (await database.get(users, people, id))?.record

/** `email` must be folded. */
export const userByEmail = (database: Database, email: string): Promise<Stored<User> | undefined> =>
  database.find(users, people, 'email', [email])

/** Adds a user to the write. The address counts as proved unless `isUnproved` is set. */
export function addUser(database: Database, change: Change, email: string, now: number, { isUnproved = false } = {}): User {
  const user: User = { id: database.newId('usr', now), email, ...(isUnproved && { isUnproved }), name: '', createdAt: now, signedInAt: now }
  change.insert(users, peoplePartition, user)
  return user
}

/** Stores the time of a sign-in. */
export function noteSignIn(change: Change, stored: Stored<User>, now: number): User {
  const user = { ...stored.record, signedInAt: now }
  change.rewrite(users, peoplePartition, stored, user)
  return user
}

/** Stores the time of a sign-in by a link to the address, which proves the address. */
export function noteVerifiedSignIn(change: Change, stored: Stored<User>, now: number): User {
  const { isUnproved: _, ...rest } = stored.record
  const user = { ...rest, signedInAt: now }
  change.rewrite(users, peoplePartition, stored, user)
  return user
}

/** Changes the name in the write. Throws `not_found`. */
export async function renameUser(database: Database, change: Change, id: string, name: string): Promise<void> {
  const stored = await database.get(users, people, id)
  if (!stored) throw new Refusal('not_found', 'No user has this address.')
  change.rewrite(users, peoplePartition, stored, { ...stored.record, name })
}
