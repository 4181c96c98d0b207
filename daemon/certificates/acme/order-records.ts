/** Stored records of orders: the certificate, and the account at each certificate authority. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { signsFor } from '../signs-for.ts'

/** A certificate with its key, both in PEM, and the directory of its issuer. One record, so that certificate and key always match. */
export interface Ordered {
  readonly directory: string
  readonly cert: string
  readonly key: string
}

/** An account at a certificate authority (RFC 8555 §7.3). */
export interface Account {
  readonly directory: string
  /** Private key in PEM. */
  readonly key: string
  /** Null until the account exists. */
  readonly url: string | null
  /** Address last sent to the authority. */
  readonly email: string | null
}

export interface OrderRecords {
  /** Returns the certificate. Undefined before the first order, or if the record is damaged; a new one is ordered then. */
  certificate(): Promise<Ordered | undefined>
  keepCertificate(ordered: Ordered): Promise<void>
  /**
   * Returns the account at a directory. If it is missing or its key is damaged, creates a new one and stores its key first.
   */
  account(directory: string): Promise<Account>
  knownAccount(directory: string): Promise<Account | undefined>
  keepAccount(account: Account): Promise<void>
}

/** Creates an account that the authority does not know yet. */
export function newAccount(directory: string): Account {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { directory, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), url: null, email: null }
}

/** Whether an account key in PEM is intact. An authority refuses all requests with a damaged key. */
export function isWholeKey(pem: string): boolean {
  try {
    const key = createPrivateKey(pem)
    return signsFor(key, createPublicKey(key))
  } catch {
    return false
  }
}
