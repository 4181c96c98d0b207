/** Splits a list of addresses in one text, separated by commas (RFC 5322 §3.4). */

/** More than any service allows in a message. The rest stays one entry, which is then refused as an address. */
const maxListed = 1001

/** Returns the addresses unchanged. A comma in quotes, in a comment or in angle brackets does not separate addresses. */
export function mailboxList(given: string | readonly string[] | null | undefined): readonly string[] {
  const texts = given === null || given === undefined ? [] : typeof given === 'string' ? [given] : given
  return texts.flatMap(split)
}

function split(text: string): string[] {
  const parts: string[] = []
  let [start, isQuoted, depth] = [0, false, 0]
  for (let at = 0; at < text.length && parts.length < maxListed; at++) {
    const mark = text[at]
    if (mark === '\\' && isQuoted) at++
    else if (mark === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (mark === '<' || mark === '(') depth++
    else if (mark === '>' || mark === ')') depth--
    else if (mark === ',' && depth <= 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}
