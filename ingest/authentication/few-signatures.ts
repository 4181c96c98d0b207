/** Limits the number of DKIM signatures before verification, because each signature costs a DNS query and a cryptographic operation. */

const maxSignatures = 10
const field = /^dkim-signature[ \t]*:[^\r\n]*\r\n(?:[ \t][^\r\n]*\r\n)*/gim

/** Removes all DKIM-Signature fields after the first ten. */
export function withFewSignatures(raw: Buffer): Buffer {
  const found = raw.indexOf('\r\n\r\n')
  const end = found === -1 ? raw.length : found + 2
  let seen = 0
  const fewer = raw.toString('latin1', 0, end).replaceAll(field, (signature) => (++seen > maxSignatures ? '' : signature))
  return seen > maxSignatures ? Buffer.concat([Buffer.from(fewer, 'latin1'), raw.subarray(end)]) : raw
}
