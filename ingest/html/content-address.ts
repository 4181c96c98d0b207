/** Addresses of parts in the same message: `cid:` and `mid:` (RFC 2392), and Content-Location (RFC 2557). */

const safeId = /^[^\s"'<>`\p{Cc}]{1,998}$/u

/** Content IDs of parts by their Content-Location. */
export type PartLocations = ReadonlyMap<string, string>
export const noLocations: PartLocations = new Map()

/** Converts an address to `cid:` with a decoded content ID; undefined if it does not refer to a part of the message. */
export function contentAddress(address: string, locations: PartLocations = noLocations): string | undefined {
  const id = /^(?:cid:|mid:[^/]{1,998}\/)(.{1,2994})$/is.exec(address)?.[1]
  if (id === undefined) return locations.has(address) ? `cid:${locations.get(address)}` : undefined
  const decoded = decodedId(id)
  if (safeId.test(decoded)) return `cid:${decoded}`
  return safeId.test(id) ? `cid:${id}` : undefined
}

/** Decodes percent encoding in a content ID. */
export function decodedId(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
