/**
 * Fast path for simple multipart forms (RFC 7578) that contain only fields. Each part has one header line and a simple name. The body is
 * split at its delimiters, without a stream for each part. All other forms go to the parser of `bodies/multipart.ts`.
 */

/** Larger bodies would block other requests. */
const maxBytes = 262_144
const multipart = /^multipart\/form-data; ?boundary=([\w.-]{1,70})$/
const beginning = Buffer.from('\r\nContent-Disposition: form-data; name="')
/** Shorter than the names that parsers cut. */
const nameIn = /^[\w:.-]{1,80}$/
const behindName = Buffer.from('"\r\n\r\n')
const maxName = 80
const [lineEnd, closing] = [Buffer.from('\r\n'), Buffer.from('--')]

/** Returns at most `most` fields in their order. Returns undefined if the body is not simple; it may still be valid. */
export function plainParts(body: Buffer, contentType: string, most: number): readonly (readonly [string, string])[] | undefined {
  const [, boundary] = body.length > maxBytes ? [] : (multipart.exec(contentType) ?? [])
  if (boundary === undefined) return undefined
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const first = delimiter.subarray(lineEnd.length)
  if (!stands(body, first, 0)) return undefined
  const fields: (readonly [string, string])[] = []
  let at = first.length
  while (!stands(body, closing, at)) {
    if (fields.length === most || !stands(body, beginning, at)) return undefined
    const nameAt = at + beginning.length
    const nameEnd = body.subarray(nameAt, nameAt + maxName + 1).indexOf(behindName[0] ?? 0)
    const valueAt = nameAt + nameEnd + behindName.length
    if (nameEnd < 0 || !stands(body, behindName, nameAt + nameEnd)) return undefined
    const name = body.toString('latin1', nameAt, nameAt + nameEnd)
    const valueEnd = body.indexOf(delimiter, valueAt)
    // parsers disagree on a delimiter right after the header
    if (valueEnd < 0 || !nameIn.test(name) || stands(body, first, valueAt)) return undefined
    fields.push([name, body.toString('utf8', valueAt, valueEnd)])
    at = valueEnd + delimiter.length
  }
  const end = at + closing.length
  return end === body.length || (end + lineEnd.length === body.length && stands(body, lineEnd, end)) ? fields : undefined
}

function stands(body: Buffer, what: Buffer, at: number): boolean {
  const end = at + what.length
  return end <= body.length && body.compare(what, 0, what.length, at, end) === 0
}
