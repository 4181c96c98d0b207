/** Tag lists (RFC 6376 §3.2): `tag=value; tag=value`, as DKIM and DMARC records are written. */

/** The tags in order, names in lower case; undefined when the text is no tag list or names a tag twice. */
export function parseTagList(text: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const part of text.split(';')) {
    if (part.trim() === '') continue
    const equals = part.indexOf('=')
    const name = part.slice(0, equals).trim().toLowerCase()
    if (equals < 1 || !/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return undefined
    tags.set(name, part.slice(equals + 1).trim())
  }
  return tags
}
