/** Words that several pages use: times, browsers, roles, and what has just been done. */
import { atFirstUse } from '#config/words/formats.ts'
import type { Role } from '#core/access/principal/role.ts'
import { html, type Html } from './html.ts'

export const roleWords: Readonly<Record<Role, { readonly label: string; readonly meaning: string }>> = {
  owner: { label: 'Owner', meaning: 'everything, makes other owners, and deletes the organization' },
  admin: { label: 'Admin', meaning: 'everything except making owners' },
  developer: { label: 'Developer', meaning: 'sends, and changes resources of projects' },
  viewer: { label: 'Viewer', meaning: 'reads everything, changes nothing' },
  billing: { label: 'Billing', meaning: 'usage and invoices only' },
}

const formatIn = (locale: string) =>
  atFirstUse(() => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }))
const timeFormats = { en: formatIn('en-GB'), de: formatIn('de-CH'), fr: formatIn('fr-CH'), it: formatIn('it-CH') } as const

/** A time for people; it is always UTC, as a server does not know where its reader is. */
export const timeOf = (ms: number, lang: keyof typeof timeFormats = 'en'): Html =>
  html`<time datetime="${new Date(ms).toISOString()}">${timeFormats[lang]().format(ms)} UTC</time>`

const browserNames: readonly (readonly [RegExp, string])[] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systemNames: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** A browser by its User-Agent, such as `Firefox on Linux`. */
export function browserOf(userAgent: string): string {
  const named = (names: typeof browserNames): string | undefined => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  const [browser, system] = [named(browserNames), named(systemNames)]
  return browser === undefined ? 'Another browser' : system === undefined ? browser : `${browser} on ${system}`
}

const done: Readonly<Record<string, string>> = {
  name: 'Your name is saved.',
  passkey_added: 'The passkey is ready. You can sign in with it.',
  passkey_removed: 'The passkey is removed.',
  session_ended: 'That session has ended.',
  sessions_ended: 'All other sessions have ended.',
  invited: 'The invitation is open.',
  resent: 'A new invitation was sent; the old link no longer works.',
  revoked: 'The invitation is revoked.',
  role: 'The role is changed.',
  removed: 'The member is removed.',
  transferred: 'The organization has another owner, and you are now an admin.',
  accepted: 'You are now a member.',
  application_revoked: 'The access is revoked, and all its tokens stopped working.',
  left: 'You left the organization.',
  claimed: 'The sandbox is now yours. Its agent can continue.',
  undone: 'The session of the agent has ended.',
  founded: 'Your organization is ready.',
  ended: 'The organization is deleted.',
}

/** What the query of a page says was done; nothing for words that are not ours. */
export const doneWords = (code: string | undefined): string | undefined =>
  code !== undefined && Object.hasOwn(done, code) ? done[code] : undefined
