/** Converts the query of a URL to an object for schemas. */

/** A parameter that appears once becomes text, a repeated parameter a list. */
export function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const query = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of search) {
    const before = query[name]
    if (Array.isArray(before)) before.push(value)
    else query[name] = before === undefined ? value : [before, value]
  }
  return query
}
