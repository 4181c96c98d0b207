/**
 * Forms in parts (RFC 7578) as clients write them that send fields alone: one line of header in each part, and a name of letters. Such
 * a body is cut at its delimiters, without a stream for each part. Whatever is written in another way is for the parser of
 * `bodies/multipart.ts` to say.
 */

/** More would hold up other requests. */
const maxBytes = 262_144
const multipart = /^multipart\/form-data; ?boundary=([\w.-]{1,70})$/
const beginning = Buffer.from('\r\nContent-Disposition: form-data; name="')
/** Shorter than any name that parsers cut. */
const nameIn = /^[\w:.-]{1,80}$/
const behindName = Buffer.from('"\r\n\r\n')
const maxName = 80
const [lineEnd, closing] = [Buffer.from('\r\n'), Buffer.from('--')]

/** The fields in their order, `most` at most; undefined for a body that is not as plain as that, which need not be wrong. */
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
    // a delimiter right behind the header is one to some, and text to others
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
