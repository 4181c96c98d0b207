/** Extensions that a peer offers in its EHLO reply (RFC 5321 §4.1.1.1). */
export interface Capabilities {
  /** RFC 2920. */
  readonly pipelining: boolean
  /** RFC 1870. */
  readonly size: boolean
  /** The peer's limit in octets, if the reply names one. */
  readonly maxSize: number | undefined
  /** RFC 6152. */
  readonly eightBitMime: boolean
  /** RFC 6531. */
  readonly smtpUtf8: boolean
  /** RFC 3461. */
  readonly dsn: boolean
  /** RFC 3207. */
  readonly startTls: boolean
  /** Mechanisms in upper case (RFC 4954). */
  readonly auth: readonly string[]
}

/** Parses the text of an EHLO reply, whose first line is a greeting. A HELO reply has no further lines and so no extensions. */
export function readCapabilities(text: string): Capabilities {
  const offers = new Map<string, readonly string[]>()
  for (const line of text.split('\n').slice(1)) {
    // Some old servers write AUTH=LOGIN instead of AUTH LOGIN.
    const [keyword = '', ...parameters] = line
      .toUpperCase()
      .trim()
      .split(/[\s=]+/)
    offers.set(keyword, [...(offers.get(keyword) ?? []), ...parameters])
  }
  const limit = Number(offers.get('SIZE')?.[0])
  return {
    pipelining: offers.has('PIPELINING'),
    size: offers.has('SIZE'),
    maxSize: Number.isSafeInteger(limit) && limit > 0 ? limit : undefined,
    eightBitMime: offers.has('8BITMIME'),
    smtpUtf8: offers.has('SMTPUTF8'),
    dsn: offers.has('DSN'),
    startTls: offers.has('STARTTLS'),
    auth: offers.get('AUTH') ?? [],
  }
}
