/** Who signed a request: HMAC-SHA-256 over the raw bytes, compared in constant time, before anything of them is looked at. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { requireFlag } from '../plan/features.ts'
import { Refusal } from '../refusals.ts'
import { ingestSources, openHmacSecret, type IngestSource } from './ingest-source.ts'
import { readSeen, writeSeen } from './source-status.ts'

/** A signature as it was sent, in either form; one that cannot be read is none. */
export interface GivenSignature {
  /** `X-Service-Signature: sha256=<hexadecimal>`. */
  readonly ours?: string | undefined
  /** Stalwart's `X-Signature`, base64; counts for sources of that provider only. */
  readonly stalwart?: string | undefined
}

/** A source whose secret a request was signed with. */
export interface SignedSource {
  readonly organizationId: string
  readonly source: IngestSource
}

/** A body that is checked as it comes. */
export interface SignatureCheck {
  /** Whose source it is. Undefined without such a source: then nothing needs to be kept, as the signature is wrong in any case. */
  readonly organizationId: string | undefined
  readonly update: (bytes: Uint8Array) => void
  /**
   * The source that signed the bytes. Throws `invalid_signature` alike for a wrong signature and an unknown or revoked source, and
   * `feature_disabled` where its organization may take nothing in.
   */
  readonly finish: (given: GivenSignature) => Promise<SignedSource>
}

/** That a source was seen is written down so often at most. */
const seenEveryMs = 60_000
/** Stands in for the secret of a missing source, so that the time of the answer does not show which ones exist. */
const missingSecret = 'no source has this secret'

export class SignedSources {
  readonly #core: Core
  readonly #seen = new Map<string, number>()

  constructor(core: Core) {
    this.#core = core
  }

  /** Begins the check of a body that is said to be of this source. */
  async begin(sourceId: string): Promise<SignatureCheck> {
    const { database, secrets } = this.#core
    const found = await database.lookup(ingestSources, 'id', [sourceId])
    const secret = found && openHmacSecret(secrets, found.record)
    const mac = createHmac('sha256', secret ?? missingSecret)
    return {
      organizationId: secret === undefined ? undefined : found?.organizationId,
      update: (bytes) => void mac.update(bytes),
      finish: async (given) => {
        const isSigned = matches(given, mac.digest(), found?.record.provider === 'stalwart')
        if (!found || secret === undefined || !isSigned) throw badSignature()
        return this.#admitted({ organizationId: found.organizationId, source: found.record })
      },
    }
  }

  async #admitted(signed: SignedSource): Promise<SignedSource> {
    const { organization } = await this.#core.policies.of(signed.organizationId)
    if (organization.deletedAt !== undefined) throw badSignature()
    requireFlag(organization, 'bounce_sources')
    return signed
  }

  /** Notes that the source reported; with `agent`, in any case. */
  async seen({ organizationId, source }: SignedSource, agent?: string): Promise<void> {
    const now = this.#core.clock.now()
    if (agent === undefined && now - (this.#seen.get(source.id) ?? -Infinity) < seenEveryMs) return
    this.#seen.set(source.id, now)
    const { database } = this.#core
    const before = await readSeen(database, organizationId, source.id)
    const seen = { at: now, agent: agent ?? before?.agent ?? null }
    await database.commit(writeSeen(new Change(), organizationId, source.id, seen))
  }
}

export const badSignature = (): Refusal =>
  new Refusal('invalid_signature', 'The signature does not match: sign the raw body with the secret of the source given in source_id.')

function matches({ ours, stalwart }: GivenSignature, expected: Buffer, isStalwart: boolean): boolean {
  const [, hexadecimal] = /^sha256=([0-9a-f]{64})$/i.exec(ours ?? '') ?? []
  const candidates = [
    ...(hexadecimal === undefined ? [] : [Buffer.from(hexadecimal, 'hex')]),
    ...(isStalwart && stalwart !== undefined ? [Buffer.from(stalwart, 'base64')] : []),
  ]
  return candidates.some((candidate) => candidate.length === expected.length && timingSafeEqual(candidate, expected))
}
