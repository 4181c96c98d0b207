/**
 * What a publishable key may send, checked in the order of the specification (spec "Authentication" 6); the gates of numbers
 * and of the captcha follow in `submission`. Pure.
 */
import { foldAddress, parseMailbox, type Mailbox } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import type { PublishableKey } from './publishable-key.ts'

/** A send from a web page, as far as these gates look at it. */
export interface PublishableSend {
  /** The header `Origin`. */
  readonly origin: string | undefined
  /** Of all three sorts: to, cc and bcc. */
  readonly recipients: readonly Mailbox[]
  /** Undefined: that of the key is meant. */
  readonly from: Mailbox | undefined
  /** How many files. */
  readonly attachments: number
}

type Constraints = Pick<PublishableKey, 'allowedOrigins' | 'allowedTo' | 'lockedFrom'>
type Gate = (key: Constraints, send: PublishableSend) => void

const gates: readonly Gate[] = [origin, recipients, sender, attachments]

/** Throws the refusal of the first gate that does not let it pass. */
export function checkPublishableGates(key: Constraints, send: PublishableSend): void {
  for (const gate of gates) gate(key, send)
}

function origin(key: Constraints, send: PublishableSend): void {
  assertOrigin(key, send.origin)
}

/** Letter by letter: what a browser sends is in its one form already. For checks before there is a body. */
export function assertOrigin({ allowedOrigins }: Pick<Constraints, 'allowedOrigins'>, given: string | undefined): void {
  if (given !== undefined && allowedOrigins.includes(given)) return
  const message =
    given === undefined
      ? 'A publishable key works only in browsers, which send the Origin header; use an API key on a server.'
      : `This key does not work on pages of ${shown(given)}; add the origin to the key, or use the key on its own pages.`
  throw new Refusal('origin_not_allowed', message, { details: { allowed_origins: allowedOrigins } })
}

/** Copies count as well: otherwise they would be the way around. */
function recipients({ allowedTo }: Constraints, { recipients: given }: PublishableSend): void {
  const unlisted = given.find((mailbox) => !allowedTo.some((entry) => covers(entry, mailbox)))
  if (!unlisted) return
  const message = `This key does not send to ${unlisted.address}; to, cc and bcc can contain only recipients of allowed_to.`
  throw new Refusal('recipient_not_allowed', message, { details: { allowed_to: allowedTo } })
}

/** A display name is part of what people see as the sender, so it is locked too. */
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
 * `entry` is folded. A domain stands for its mailboxes; an address such as user%other@host or other!user@host is a route through
 * it, which servers that trust us follow (RFC 1123 §5.2.16).
 */
export const covers = (entry: string, { address, local, domain }: Pick<Mailbox, 'address' | 'local' | 'domain'>): boolean =>
  entry.startsWith('@') ? entry === `@${domain}` && !/[%!]/.test(local) : entry === foldAddress(address)

/** It comes from a header, so anything can be in it. */
const shown = (text: string): string => (/^[\x21-\x7e]{1,200}$/.test(text) ? text : 'another origin')
