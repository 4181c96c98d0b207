/** A private key after damage of the disk. */

/** Octets of the private number in the PEM text of a P-256 key. The public part follows it. */
const [from, upTo] = [78, 118]

/** The PEM text of a P-256 key with one bit of its private number changed. `nth`: another bit for each number, up to 10. */
export function damagedKey(key: string, nth = 0): string {
  const bytes = Buffer.from(key)
  const isDigit = (octet: number | undefined): boolean => /^[A-Za-z0-9]$/.test(String.fromCodePoint(octet ?? 0))
  const changeable = [...bytes.keys()].slice(from, upTo).filter((at) => isDigit(bytes[at]) && isDigit((bytes[at] ?? 0) ^ 1))
  const at = changeable[nth] ?? from
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString()
}
