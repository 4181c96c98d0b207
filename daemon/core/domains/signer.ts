/** Signs mail for the sending domains of an organization. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Core } from '../core.ts'
import { withParents } from './check-records.ts'
import { digestMessage, dkimSignature, type SigningKey } from './dkim-signature.ts'
import { dkimKeyContext, type DkimKey, type SendingDomain } from './sending-domain.ts'

/** Domain and selector of a signature. */
export interface SignedBy {
  readonly domain: string
  readonly selector: string
}

/** `unsigned`: no key for this From, or a message that cannot be signed; `locked`: the private key cannot be opened. */
export type SigningResult =
  | { readonly kind: 'signed'; readonly fields: string; readonly by: readonly SignedBy[] }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'locked'; readonly domain: string }

/** Limit for opened keys; a domain has one or two. */
const maxOpened = 1000

export class Signer {
  readonly #core: Core
  readonly #opened = new Map<string, KeyObject>()

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Returns DKIM-Signature fields of a message from `headerFrom`. Uses all active keys of its domain or of the nearest parent domain with a
   * key; both are aligned (RFC 7489 §3.1.1). Calls `content` only if a key exists.
   */
  async sign(
    domains: ReadonlyMap<string, SendingDomain>,
    headerFrom: string,
    content: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<SigningResult> {
    const found = signingDomain(domains, headerFrom)
    if (!found) return { kind: 'unsigned' }
    const keys = activeKeys(found).map((key) => this.#open(found, key))
    if (!keys.every((key) => key !== undefined)) return { kind: 'locked', domain: found.domain }
    const digest = await digestMessage(content())
    if (!digest) return { kind: 'unsigned' }
    const nowMs = this.#core.clock.now()
    const fields = await Promise.all(keys.map((key) => dkimSignature(digest, key, nowMs)))
    return { kind: 'signed', fields: fields.join(''), by: keys.map(({ domain, selector }) => ({ domain, selector })) }
  }

  #open({ id, domain }: SendingDomain, { selector, algorithm, sealedPrivateKey }: DkimKey): SigningKey | undefined {
    const place = dkimKeyContext(id, selector)
    let privateKey = this.#opened.get(place)
    if (!privateKey) {
      const pem = this.#core.secrets.open(sealedPrivateKey ?? '', place)
      if (pem === undefined) return undefined
      if (this.#opened.size >= maxOpened) this.#opened.clear()
      this.#opened.set(place, (privateKey = createPrivateKey(pem)))
    }
    return { domain, selector, algorithm, privateKey }
  }
}

const activeKeys = ({ keys }: SendingDomain): DkimKey[] => keys.filter(({ state }) => state === 'active')

function signingDomain(domains: ReadonlyMap<string, SendingDomain>, headerFrom: string): SendingDomain | undefined {
  if (domains.size === 0 || headerFrom === '') return undefined
  return withParents(headerFrom.slice(headerFrom.lastIndexOf('@') + 1).toLowerCase())
    .map((name) => domains.get(name))
    .find((domain) => domain !== undefined && activeKeys(domain).length > 0)
}
