/** The query of an address, as schemas take it. */

/** A parameter given once is text, given more often a list. */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const query = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of search) {
    const before = query[name]
    if (Array.isArray(before)) before.push(value)
    else query[name] = before === undefined ? value : [before, value]
  }
  return query
}
