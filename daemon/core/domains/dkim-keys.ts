/** Generates DKIM keys and their DNS records, and changes their states from the first look-up to the end of a rotation. */
import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { SecretBox } from '../access/secret-box.ts'
import { dkimKeyContext, type DkimKey, type KeyAlgorithm, type RecordVerdict } from './sending-domain.ts'

/** A retired key stays in DNS while mail with its signature can be in transit: a week, the maximum age in the queue. */
export const retiredKeyMs = 7 * 24 * 3600 * 1000

/** RFC 8301 §3.2 requires 1,024 bits and recommends 2,048; longer keys do not fit into common DNS panels. */
const rsaBits = 2048
/** A SubjectPublicKeyInfo of Ed25519 ends with the 32 bytes that RFC 8463 §4 publishes. */
const ed25519Bytes = 32

const generate = promisify(generateKeyPair)

/** Returns a key pair with a new selector. Generation runs outside the main thread. */
export async function newDkimKey(secrets: SecretBox, domainId: string, algorithm: KeyAlgorithm, nowMs: number): Promise<DkimKey> {
  const { publicKey, privateKey } = algorithm === 'rsa' ? await generate('rsa', { modulusLength: rsaBits }) : await generate('ed25519')
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const selector = newSelector(algorithm, nowMs)
  return {
    selector,
    algorithm,
    publicKey: (algorithm === 'rsa' ? spki : spki.subarray(-ed25519Bytes)).toString('base64'),
    sealedPrivateKey: secrets.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), dkimKeyContext(domainId, selector)),
    state: 'pending',
    createdAt: nowMs,
    retiredAt: null,
  }
}

/**
 * Returns a selector with a month and a random part. The month shows people the age of a key; the random part separates services that share
 * a domain.
 */
function newSelector(algorithm: KeyAlgorithm, nowMs: number): string {
  const month = new Date(nowMs).toISOString().slice(0, 7).replace('-', '')
  return `pst${month}${randomBytes(4).toString('hex')}${algorithm === 'rsa' ? '' : '-ed'}`
}

/** Name of the key record (RFC 6376 §3.6.2.1). */
export const dkimRecordName = ({ selector }: DkimKey, domain: string): string => `${selector}._domainkey.${domain}`

/** Text of the key record (RFC 6376 §3.6.1). */
export const dkimRecordText = ({ algorithm, publicKey }: DkimKey): string => `v=DKIM1; k=${algorithm}; p=${publicKey}`

/**
 * Returns the keys after a look-up; `seen` has verdicts by selector. A key that is seen for the first time replaces its predecessor. An
 * active key that is missing from DNS no longer signs. A failed look-up changes nothing.
 */
export function keysAfterCheck(keys: readonly DkimKey[], seen: ReadonlyMap<string, RecordVerdict>, nowMs: number): DkimKey[] {
  const risen = new Map<KeyAlgorithm, DkimKey>()
  for (const key of keys) {
    const best = risen.get(key.algorithm)
    const isSeen = key.state === 'pending' && seen.get(key.selector) === 'ok'
    if (isSeen && (!best || key.createdAt >= best.createdAt)) risen.set(key.algorithm, key)
  }
  return withoutExpired(keys, nowMs).map((key): DkimKey => {
    const verdict = seen.get(key.selector)
    const successor = risen.get(key.algorithm)
    if (key === successor) return { ...key, state: 'active' }
    if (key.state === 'retired') return key
    if (successor && (key.state === 'active' || verdict === 'ok'))
      return { ...key, state: 'retired', sealedPrivateKey: null, retiredAt: nowMs }
    return verdict === 'missing' || verdict === 'mismatch' ? { ...key, state: 'pending' } : key
  })
}

/** Returns the keys without retired keys older than `retiredKeyMs`. */
export const withoutExpired = (keys: readonly DkimKey[], nowMs: number): DkimKey[] =>
  keys.filter(({ retiredAt }) => retiredAt === null || nowMs - retiredAt < retiredKeyMs)
