/** Finds reply codes (RFC 5321 §4.2) and enhanced status codes (RFC 3463) in the text of a server. */

export interface ReplyCodes {
  readonly smtpCode: number | null
  readonly status: string | null
}

const maxSearch = 8192
const none: ReplyCodes = { smtpCode: null, status: null }
// First digits of a failure. A 2 in such text belongs to a version or a count.
const both = /(?<![\w.])([45]\d\d)[ -]{1,3}['"#]{0,2}([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/
const enhanced = /(?<![\w.])([245])\.([0-7])\.(\d{1,3})(?!\.?\d)(?![\w-])/g
const atStart = /(?:^|\n)[\s>#"'[(<]{0,20}([245]\d\d)(?:[ :-]|$)/
const afterPhrase =
  /(?:said|says|returned|return(?:ed)? was|response|responded|reply|replied|error|code|message|smtp|with|status|was|reason|ERROR_CODE|ResponseCode)[^\w\n]{0,12}([45]\d\d)(?=[\s\-:,;.)<\]]|$)/i
const anywhere = /(?<![\w.:/@-])([45][0-5]\d)[ -](?=[A-Z<#['"[])|[\]:][ \t]{1,3}([45][0-5]\d)[ -]{1,3}(?=[a-z:<])/

/** The codes of a failure, preferably an adjacent pair of one reply. */
export function failureCodes(reply: string): ReplyCodes {
  const text = reply.slice(0, maxSearch)
  const pair = both.exec(text)
  if (pair) return { smtpCode: Number(pair[1]), status: pair[2] ?? null }
  const smtpCode = firstCode(text, '45')
  return { smtpCode, status: firstStatus(text, smtpCode === null ? '45' : String(smtpCode).charAt(0)) ?? firstStatus(text, '45') }
}

/** The codes of a reply that may also report success. */
export function replyCodes(reply: string): ReplyCodes {
  const text = reply.slice(0, maxSearch)
  const code = /^\s*([245]\d\d)(?:[ -]{1,3}#?([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d))?(?!\d)/.exec(text)
  return code ? { smtpCode: Number(code[1]), status: code[2] ?? firstStatus(text, '245') } : { ...none, status: firstStatus(text, '245') }
}

/** Recognizes a status with no information beyond its class. */
export const isVague = (status: string): boolean => status.endsWith('.0.0')

function firstCode(text: string, classes: string): number | null {
  for (const shape of [atStart, afterPhrase, anywhere]) {
    const [, one, other] = shape.exec(text) ?? []
    const code = one ?? other
    if (code !== undefined && classes.includes(code.charAt(0))) return Number(code)
  }
  return null
}

function firstStatus(text: string, classes: string): string | null {
  for (const [, first = '', subject = '', detail = ''] of text.matchAll(enhanced)) {
    if (classes.includes(first)) return `${first}.${subject}.${detail}`
  }
  return null
}

/** The host that refused the message, as named in text. */
export const hostNamedIn = (reply: string): string | undefined =>
  /\b(?:host|server|mx)[ :]\s{0,4}([\w.-]{3,255} {0,2}\[[\da-fA-F:.]{3,45}\])/i.exec(reply)?.[1] ??
  /while talking to\s{1,4}([\w.-]{3,255})/i.exec(reply)?.[1] ??
  /([\w.-]{3,255} \[[\da-fA-F:.]{3,45}\]) did not like/.exec(reply)?.[1] ??
  /(?:remote host|connected to|remote server) \(?([\d.]{7,15}|[\da-fA-F:]{5,45})\b/i.exec(reply)?.[1] ??
  /\bhost:? ((?:[\w-]{1,63}\.){1,10}[a-z]{2,63})\b/i.exec(reply)?.[1]
