/**
 * Determines the failed recipients of a notice without structured fields. Sources are its header, its text, and last the returned message.
 */
import { firstValue, type HeaderField } from '../../mime/header-fields.ts'
import { mentionedRecipients, nakedNames, namedRecipients, plainlyNamed, saidAbout, type NamedRecipient } from './bounce-text.ts'
import { listedRecipients } from '../structured/delivery-status.ts'
import { addressesIn, isMachine } from '../facts/mail-address.ts'
import { originalTo } from '../facts/report-evidence.ts'

/** The parsed facts of a notice. */
export interface NoticeFacts {
  readonly fields: readonly HeaderField[]
  readonly lines: readonly string[]
  /** The header of the returned message. */
  readonly returned: readonly HeaderField[]
}

const ofTheReport = /^(?:to|from|reply-to|return-path|sender|delivered-to)$/i
const ofTheSender = /^(?:from|return-path|sender|reply-to)$/i

/**
 * Returns a filter for possible recipients. Author, sender and recipient of the notice did not fail, unless they sent the message to
 * themselves.
 */
export function mayHaveFailed({ fields, returned }: Pick<NoticeFacts, 'fields' | 'returned'>): (address: string) => boolean {
  const senders = addressesOf(returned, ofTheSender)
  const own = new Set([...addressesOf(fields, ofTheReport), ...senders])
  for (const address of originalTo(returned)) if (senders.has(address.toLowerCase())) own.delete(address.toLowerCase())
  return (address) => !own.has(address.toLowerCase())
}

/**
 * Returns the failed recipients from the first source that has any:
 * - header fields of the notice that list recipients, with the text about each
 * - lines of the text that name a failed recipient (`namedRecipients`)
 * - addresses in sentences about a failure
 * - local parts without a domain, if the notice's author has the domain
 * - a single address in To of the returned message.
 */
export function failedRecipients(notice: NoticeFacts): NamedRecipient[] {
  const mayBe = mayHaveFailed(notice)
  const others = namedRecipients(notice.lines, mayBe)
  const named = others.length > 0 ? others : plainlyNamed(notice.lines)
  const listed = listedRecipients(notice.fields)
  if (listed.length > 0) return listedWith(listed, named)
  if (named.length > 0) return named
  const mentioned = mentionedRecipients(notice.lines, mayBe)
  if (mentioned.length > 0) return mentioned
  const [writer] = addressesIn(firstValue(notice.fields, 'from') ?? '')
  const domain = writer !== undefined && isMachine(writer) ? writer.slice(writer.lastIndexOf('@') + 1).toLowerCase() : ''
  // the name of a single server does not identify the mail domain
  const naked = /^[^.]+\.[^.]+$/.test(domain) ? nakedNames(notice.lines, domain) : []
  if (naked.length > 0) return naked
  const to = originalTo(notice.returned).filter(mayBe)
  return to.length === 1 ? to.map(silent) : []
}

/** A recipient without any text about it. */
export const silent = (address: string): NamedRecipient => ({ address, original: undefined, about: '' })

/**
 * Combines the listed recipients with those in the text. The text may have more recipients, if the header hides the target of an alias. If
 * they have no address in common, the text is about other people.
 */
function listedWith(listed: readonly string[], named: readonly NamedRecipient[]): NamedRecipient[] {
  const wanted = new Set(listed.map((address) => address.toLowerCase()))
  const isListed = ({ address, original }: NamedRecipient): boolean =>
    wanted.has(address.toLowerCase()) || (original !== undefined && wanted.has(original.toLowerCase()))
  if (!named.some(isListed)) return replied(listed, named) ?? listed.map(silent)
  const known = new Set(named.flatMap(({ address, original }) => [address.toLowerCase(), original?.toLowerCase() ?? '']))
  return [...named, ...listed.filter((address) => !known.has(address.toLowerCase())).map(silent)]
}

/**
 * If the text names only one recipient, and with a server's reply, that recipient failed. The header then lists the original address,
 * which an alias of the server replaced.
 */
function replied(listed: readonly string[], named: readonly NamedRecipient[]): NamedRecipient[] | undefined {
  const [only, ...more] = named
  if (only === undefined || more.length > 0 || listed.length > 1) return undefined
  const { smtpCode, status } = saidAbout(only, [], false)
  return smtpCode === null && status === null ? undefined : [{ ...only, original: only.original ?? listed[0] }]
}

const addressesOf = (fields: readonly HeaderField[], names: RegExp): Set<string> =>
  new Set(
    fields
      .filter(({ name }) => names.test(name))
      .flatMap(({ value }) => addressesIn(value))
      .map((address) => address.toLowerCase()),
  )
