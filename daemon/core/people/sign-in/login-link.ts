/** Record of a login link: one sign-in for the reader of the mail or of the terminal that shows the link. */
import type { Change } from '#store/change.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { peoplePartition } from '../users/user.ts'
import { hashSecret, newSecret } from '../users/secret-token.ts'

const schema = z.strictObject({
  /** SHA-256 of the secret in the link. */
  id: z.string(),
  /** Folded to lower case. Null in the link of the first start; its reader enters the address. */
  email: z.string().nullable(),
  /** Organization whose owner the user becomes by this sign-in, unless it has an owner at that time. */
  ownerOf: z.string().nullable(),
  /** Path of the page after the sign-in. */
  next: z.string(),
  expiresAt: z.int(),
})

export type LoginLink = Immutable<z.infer<typeof schema>>

export const loginLinks = defineRecord<LoginLink>({
  name: 'login_link',
  schema,
})

export const loginLinkMs = 15 * 60_000
/** Long enough for a terminal that is unattended during the first start. */
const firstLinkMs = 24 * 3_600_000

/** Adds a link to the write and returns its secret. */
export function addLoginLink(change: Change, link: Omit<LoginLink, 'id'>): string {
  const secret = newSecret()
  const id = hashSecret(secret)
  change.insert(loginLinks, peoplePartition, { ...link, id }).expire(link.expiresAt, [peoplePartition, loginLinks.name, id])
  return secret
}

/** Adds the link that the first start prints. The first person who uses it becomes the owner of the organization. */
export const addFirstLink = (change: Change, organizationId: string, now: number): string =>
  addLoginLink(change, { email: null, ownerOf: organizationId, next: startPage, expiresAt: now + firstLinkMs })

/** Default page after a sign-in. */
export const startPage = '/'

/** Leaves room for the parameters of an OAuth authorization request. */
const maxPath = 4000

/** Returns a path of this service. Returns the start page for any text that could lead to another site. */
export function safePath(path: string | null | undefined): string {
  const text = path ?? ''
  const url = text.length <= maxPath && /^\/[!-~]*$/.test(text) ? URL.parse(text, 'https://here.invalid') : null
  // dot segments can produce a path that starts with two slashes, which would name another host
  const isOurs = url?.origin === 'https://here.invalid' && !url.pathname.startsWith('//')
  return isOurs ? url.pathname + url.search : startPage
}
