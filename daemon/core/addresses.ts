/** The grammar of mail addresses, shared with the settings. */
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
