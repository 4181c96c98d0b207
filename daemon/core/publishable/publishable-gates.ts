/**
 * Restrictions of a publishable key, checked in the order of the spec (spec "Authentication" 6). Rate limits and captcha follow in
 * `submission`. Pure.
 */
import { foldAddress, parseMailbox, type Mailbox } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import type { PublishableKey } from './publishable-key.ts'

/** The properties of a send from a web page that these gates check. */
export interface PublishableSend {
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** Recipients in to, cc and bcc. */
  readonly recipients: readonly Mailbox[]
  /** Undefined uses the sender of the key. */
  readonly from: Mailbox | undefined
  /** Number of attachments. */
  readonly attachments: number
}

type Constraints = Pick<PublishableKey, 'allowedOrigins' | 'allowedTo' | 'lockedFrom'>
type Gate = (key: Constraints, send: PublishableSend) => void

const gates: readonly Gate[] = [origin, recipients, sender, attachments]

/** Throws the refusal of the first gate that the send does not pass. */
export function checkPublishableGates(key: Constraints, send: PublishableSend): void {
  for (const gate of gates) gate(key, send)
}

function origin(key: Constraints, send: PublishableSend): void {
  assertOrigin(key, send.origin)
}

/** Compares exactly, because browsers send the normalized form. Exported for checks of requests without body. */
export function assertOrigin({ allowedOrigins }: Pick<Constraints, 'allowedOrigins'>, given: string | undefined): void {
  if (given !== undefined && allowedOrigins.includes(given)) return
  const message =
    given === undefined
      ? 'A publishable key works only in browsers, which send the Origin header; use an API key on a server.'
      : `This key does not work on pages of ${shown(given)}; add the origin to the key, or use the key on its own pages.`
  throw new Refusal('origin_not_allowed', message, { details: { allowed_origins: allowedOrigins } })
}

/** Includes cc and bcc, which could otherwise bypass the restriction. */
function recipients({ allowedTo }: Constraints, { recipients: given }: PublishableSend): void {
  const unlisted = given.find((mailbox) => !allowedTo.some((entry) => covers(entry, mailbox)))
  if (!unlisted) return
  const message = `This key does not send to ${unlisted.address}; to, cc and bcc can contain only recipients of allowed_to.`
  throw new Refusal('recipient_not_allowed', message, { details: { allowed_to: allowedTo } })
}

/** The display name is also locked, because people see it as the sender. */
function sender({ lockedFrom }: Constraints, { from }: PublishableSend): void {
  if (from === undefined) return
  const locked = parseMailbox(lockedFrom)
  const isName = from.name === '' || from.name.toLowerCase() === locked?.name.toLowerCase()
  if (locked && isName && foldAddress(from.address) === foldAddress(locked.address)) return
  const message = `This key sends as ${lockedFrom} only; put the address of the visitor into reply_to.`
  throw new Refusal('from_locked', message, { details: { locked_from: lockedFrom } })
}

function attachments(_: Constraints, { attachments: count }: PublishableSend): void {
  if (count > 0) throw new Refusal('attachments_not_allowed', 'A publishable key sends no attachments; leave them out.')
}

/**
 * `entry` is folded. A domain allows its mailboxes. Addresses such as user%other@host or other!user@host are excluded: they are routes,
 * which servers that trust this service follow (RFC 1123 §5.2.16).
 */
export const covers = (entry: string, { address, local, domain }: Pick<Mailbox, 'address' | 'local' | 'domain'>): boolean =>
  entry.startsWith('@') ? entry === `@${domain}` && !/[%!]/.test(local) : entry === foldAddress(address)

/** Hides unusual values, because the header can contain anything. */
const shown = (text: string): string => (/^[\x21-\x7e]{1,200}$/.test(text) ? text : 'another origin')
