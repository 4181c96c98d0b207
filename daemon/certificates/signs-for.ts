/** Detects a damaged private key. `X509Certificate.checkPrivateKey` compares only its public part, which may be intact. */
import { sign, verify, type KeyObject } from 'node:crypto'

const sample = Buffer.from('postern')

/** Whether signatures of the private key match the public key. */
export function signsFor(privateKey: KeyObject, publicKey: KeyObject): boolean {
  try {
    return verify(null, sample, publicKey, sign(null, sample, privateKey)) // null: the default digest of the key type
  } catch {
    return false
  }
}
