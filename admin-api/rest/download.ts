/** Headers for files that strangers wrote: always saved, never shown as part of this site. */

/** Types that a browser can show without running anything; all others are bytes. */
const harmless: ReadonlySet<string> = new Set(['application/pdf', 'image/gif', 'image/jpeg', 'image/png', 'image/webp', 'text/plain'])

export const servedType = (declared: string): string => (harmless.has(declared) ? declared : 'application/octet-stream')

/** RFC 6266 §4.3: a plain name for old clients, and the real one in RFC 8187 form. */
export function attachmentHeaders(filename: string): Readonly<Record<string, string>> {
  const plain = filename.replaceAll(/[^\w.() -]/g, '_')
  const real = encodeURIComponent(filename.toWellFormed()).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return { 'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${real}` }
}
