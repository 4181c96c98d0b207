/** Cuts the HTML of a message to a length. The content of `data:` addresses does not count, and no tag is split. */

/**
 * The content of a `data:` address, in the value of an attribute or in `url()`. It contains no angle bracket, so tags always count. The
 * bounds of its parts keep the search linear.
 */
const dataAddress = /["'=(;]\s{0,10}data:[^"'<>()\s,]{0,100}?(?:;base64,[a-z0-9+/=%\s]*|,[^"'<>()\s]*)/gi

/** The length of the longest prefix of at most `max` characters, not counting the content of `data:` addresses. */
export function boundedLength(html: string, max: number): number {
  if (html.length <= max) return html.length
  let room = max
  let at = 0
  for (const { 0: found, index } of html.matchAll(dataAddress)) {
    const start = index + found.indexOf(',') + 1
    if (start - at > room) break
    room -= start - at
    at = index + found.length
  }
  return at + room >= html.length ? html.length : beforeTag(html, at + room)
}

/** The prefix of that length. */
export const boundedHtml = (html: string, max: number): string => html.slice(0, boundedLength(html, max))

/** Number of characters without the content of `data:` addresses. */
export function countedLength(html: string): number {
  let count = html.length
  for (const { 0: found } of html.matchAll(dataAddress)) count -= found.length - found.indexOf(',') - 1
  return count
}

/** Returns `end`, or the start of the tag that contains it. */
function beforeTag(html: string, end: number): number {
  const open = html.lastIndexOf('<', end - 1)
  const isInside = open >= 0 && html.lastIndexOf('>', end - 1) < open && /^[a-z/!?]/i.test(html.charAt(open + 1))
  return isInside ? open : end
}
