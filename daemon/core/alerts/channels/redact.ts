/** Removes secrets of a target from texts of its receiver, which may repeat the request. */

/** Parts of a URL of this length or more are treated as secret. */
const minPart = 8
/** A response can be cut within a secret; a shorter rest of it is of no use. */
const minRest = 6
const mask = '***'

/** Returns a function that replaces the secrets, and the parts of URLs among them, in every usual spelling. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const parts = secrets.flatMap((secret) => (secret === '' ? [] : [secret, ...partsOf(secret)]))
  const spellings = parts.flatMap((part) => [part, part.replaceAll('/', String.raw`\/`), encodeURIComponent(part)])
  const longestFirst = [...new Set(spellings)].toSorted((a, b) => b.length - a.length)
  return (text) => longestFirst.reduce((rest, secret) => withoutRest(rest.replaceAll(secret, mask), secret), text)
}

function partsOf(text: string): readonly string[] {
  const url = URL.parse(text)
  if (!url) return []
  const values = [...url.searchParams.values()]
  return [url.pathname, ...url.pathname.split('/'), url.search, ...values].filter((part) => part.length >= minPart)
}

/** Replaces the beginning of a secret at the end of a text. */
function withoutRest(text: string, secret: string): string {
  for (let length = secret.length - 1; length >= minRest; length--)
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + mask
  return text
}
