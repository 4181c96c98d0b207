/** A private key that a disk has damaged. */

/** Octets of the private number in the PEM text of a P-256 key. The public part follows. */
const [from, upTo] = [78, 118]

/** Returns the PEM text of a P-256 key with one changed bit in its private number. Each `nth` up to 10 changes another bit. */
export function damagedKey(key: string, nth = 0): string {
  const bytes = Buffer.from(key)
  const isDigit = (octet: number | undefined): boolean => /^[A-Za-z0-9]$/.test(String.fromCodePoint(octet ?? 0))
  const changeable = [...bytes.keys()].slice(from, upTo).filter((at) => isDigit(bytes[at]) && isDigit((bytes[at] ?? 0) ^ 1))
  const at = changeable[nth] ?? from
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString()
}
