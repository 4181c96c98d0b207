/** Signs mail for the sending domains of an organization. */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Core } from '../core.ts'
import { withParents } from './check-records.ts'
import { digestMessage, dkimSignature, type SigningKey } from './dkim-signature.ts'
import { dkimKeyContext, type DkimKey, type SendingDomain } from './sending-domain.ts'

/** Under which name a message was signed. */
export interface SignedBy {
  readonly domain: string
  readonly selector: string
}

/** `unsigned`: no key signs for this From, or the message cannot be signed; `locked`: the domain's key does not open. */
export type SigningResult =
  | { readonly kind: 'signed'; readonly fields: string; readonly by: readonly SignedBy[] }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'locked'; readonly domain: string }

/** Opened keys are few: one or two for each domain. */
const maxOpened = 1000

export class Signer {
  readonly #core: Core
  readonly #opened = new Map<string, KeyObject>()

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * The DKIM-Signature fields for a message from `headerFrom`, by all active keys of its domain or, without one, of the
   * nearest domain above it: both are aligned (RFC 7489 §3.1.1). `content` is called only when there is a key.
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
