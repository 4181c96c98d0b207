/** The one grammar for mail addresses; settings share it. */
export {
  foldAddress,
  isLocalPart,
  parseAddress,
  parseDomain,
  parseExactAddress,
  parseExactMailbox,
  parseMailbox,
  type Mailbox,
} from '#config/mail/addresses.ts'
