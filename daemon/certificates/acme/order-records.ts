/** What is kept of orders: the certificate, and the account at each certificate authority. */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { signsFor } from '../signs-for.ts'

/** A certificate with its key, both in PEM, and the directory of who issued it. In one piece, so that they always belong together. */
export interface Ordered {
  readonly directory: string
  readonly cert: string
  readonly key: string
}

/** An account (RFC 8555 §7.3). */
export interface Account {
  readonly directory: string
  /** In PEM. */
  readonly key: string
  /** Null until the account exists. */
  readonly url: string | null
  /** What the authority was last told. */
  readonly email: string | null
}

export interface OrderRecords {
  /** Undefined when nothing was ordered yet, or what is kept is damaged: then it is ordered again. */
  certificate(): Promise<Ordered | undefined>
  keepCertificate(ordered: Ordered): Promise<void>
  /** Returns the account at a directory. If there is none, or its key is damaged, makes one and stores its key before it is used. */
  account(directory: string): Promise<Account>
  knownAccount(directory: string): Promise<Account | undefined>
  keepAccount(account: Account): Promise<void>
}

/** One of which the authority does not know yet. */
export function newAccount(directory: string): Account {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { directory, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), url: null, email: null }
}

/** Whether an account key in PEM is whole: an authority refuses all requests under a damaged one. */
export function isWholeKey(pem: string): boolean {
  try {
    const key = createPrivateKey(pem)
    return signsFor(key, createPublicKey(key))
  } catch {
    return false
  }
}
