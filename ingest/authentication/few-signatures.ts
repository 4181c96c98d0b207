/** Limits the number of DKIM signatures before verification, because each signature costs a DNS query and a cryptographic operation. */

const maxSignatures = 10
const field = /^dkim-signature[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*/gim

/** Removes all DKIM-Signature fields after the first ten. Lines may end with a bare LF. */
export function withFewSignatures(raw: Buffer): Buffer {
  const end = headEnd(raw)
  let seen = 0
  const fewer = raw.toString('latin1', 0, end).replaceAll(field, (signature) => (++seen > maxSignatures ? '' : signature))
  return seen > maxSignatures ? Buffer.concat([Buffer.from(fewer, 'latin1'), raw.subarray(end)]) : raw
}

function headEnd(raw: Buffer): number {
  const ends = ['\n\r\n', '\n\n'].map((empty) => raw.indexOf(empty)).filter((at) => at !== -1)
  return ends.length === 0 ? raw.length : Math.min(...ends) + 1
}
