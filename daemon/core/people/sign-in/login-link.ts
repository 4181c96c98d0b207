/** Login links: one sign-in for whoever reads the mail or the terminal that shows the link. */
import type { Change } from '#store/change.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { peoplePartition } from '../users/user.ts'
import { hashSecret, newSecret } from '../users/secret-token.ts'

const schema = z.strictObject({
  /** The SHA-256 of the secret in the link. */
  id: z.string(),
  /** Folded; null in the link of the first start, whose reader says it. */
  email: z.string().nullable(),
  /** The organization that gets its first owner by this sign-in, if it has none by then. */
  ownerOf: z.string().nullable(),
  /** Path of the page to go on to. */
  next: z.string(),
  expiresAt: z.int(),
})

export type LoginLink = Immutable<z.infer<typeof schema>>

export const loginLinks = defineRecord<LoginLink>({
  name: 'login_link',
  schema,
})

export const loginLinkMs = 15 * 60_000
/** The terminal may be unattended when a service starts for the first time. */
const firstLinkMs = 24 * 3_600_000

/** Adds a link to the write and returns its secret. */
export function addLoginLink(change: Change, link: Omit<LoginLink, 'id'>): string {
  const secret = newSecret()
  const id = hashSecret(secret)
  change.insert(loginLinks, peoplePartition, { ...link, id }).expire(link.expiresAt, [peoplePartition, loginLinks.name, id])
  return secret
}

/** The link that the first start prints: whoever follows it becomes the owner of the organization. */
export const addFirstLink = (change: Change, organizationId: string, now: number): string =>
  addLoginLink(change, { email: null, ownerOf: organizationId, next: startPage, expiresAt: now + firstLinkMs })

/** Where a sign-in leads by default. */
export const startPage = '/'

/** Room for what an OAuth client puts into its request. */
const maxPath = 4000

/** The path of a page of this service, or the start page for anything that could lead elsewhere. */
export function safePath(path: string | null | undefined): string {
  const text = path ?? ''
  const url = text.length <= maxPath && /^\/[!-~]*$/.test(text) ? URL.parse(text, 'https://here.invalid') : null
  // dots can bring two slashes to the front, which would name another host
  const isOurs = url?.origin === 'https://here.invalid' && !url.pathname.startsWith('//')
  return isOurs ? url.pathname + url.search : startPage
}
