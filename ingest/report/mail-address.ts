/** Addresses as reports write them: with a type before, in angle brackets, among words. */

const lineMax = 2000
const local = String.raw`(?:"[^"\n]{1,64}"|[\w.!#$%&'*+/=?^\x60{|}~\u0080-\uffff-]{1,128})`
const domain = String.raw`(?:\[[\w.:]{3,60}\]|[A-Za-z0-9\u0080-\uffff_](?:[A-Za-z0-9.\u0080-\uffff_-]{0,252}[A-Za-z0-9\u0080-\uffff])?)`

/** The source of an expression for one address. */
export const addressSource = `${local}@${domain}`
const oneAddress = new RegExp(`^${addressSource}$`)
/** An address does not begin in the middle of one; so no run of characters is tried twice. */
const addresses = new RegExp(String.raw`(?<![\w.!#$%&'*+/=?^\x60{|}~\u0080-\uffff-])${addressSource}`, 'g')

/** `rfc822; a@b`, also `rfc/822;`, `utf-8;` or no type, with or without angle brackets; undefined when it is no address. */
export function typedAddress(value: string): string | undefined {
  const text = value.slice(0, lineMax).replace(/^\s*[\w/-]{1,40}\s*;/, '')
  const inner = /<([^<>]*)>/.exec(text)?.[1] ?? text
  const found = plainAddress(inner)
  // A path or a program is no address, even with one among its arguments.
  if (found !== undefined || /^\s*[|/]/.test(inner)) return found
  const all = addressesIn(inner)
  return all.length === 1 ? all[0] : undefined
}

/** One address and nothing else; undefined otherwise. */
export function plainAddress(text: string): string | undefined {
  const plain = text
    .trim()
    .replace(/^(?:mailto|smtp):/i, '')
    .replace(/\.$/, '')
  return plain.length <= 320 && oneAddress.test(plain) ? plain : undefined
}

/** All addresses of a line, in order. */
export const addressesIn = (line: string): string[] =>
  line
    .slice(0, lineMax)
    .match(addresses)
    ?.map((found) => found.replace(/^'+/, '')) ?? []

/** The text with all addresses taken out: digits in them are no codes. */
export const withoutAddresses = (text: string): string => text.replaceAll(addresses, 'address')

/** The machines that write reports; they are not whom a message was for. */
export const isMachine = (address: string): boolean =>
  /^(?:mailer[-_.]?daemon|post_?master|microsoftexchange[0-9a-f]{20,}|mail[.-]?delivery[.-]?(?:sub)?system|mdaemon)@/i.test(address)
