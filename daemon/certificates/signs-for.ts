/** Finds damage of a private key: its own public part, which `X509Certificate.checkPrivateKey` compares, can be whole all the same. */
import { sign, verify, type KeyObject } from 'node:crypto'

const sample = Buffer.from('postern')

/** Whether signatures of the private key fit the public key. */
export function signsFor(privateKey: KeyObject, publicKey: KeyObject): boolean {
  try {
    return verify(null, sample, publicKey, sign(null, sample, privateKey)) // null: the digest that fits the kind of key
  } catch {
    return false
  }
}
