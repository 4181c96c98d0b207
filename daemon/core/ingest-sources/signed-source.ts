/** Verifies signed requests of sources: HMAC-SHA-256 over the raw bytes, compared in constant time, before the content is parsed. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Change } from '#store/change.ts'
import type { Core } from '../core.ts'
import { requireFlag } from '../plan/features.ts'
import { Refusal } from '../refusals.ts'
import { ingestSources, openHmacSecret, type IngestSource } from './ingest-source.ts'
import { readSeen, writeSeen } from './source-status.ts'

/** The signature of a request in either form; an unreadable signature counts as missing. */
export interface GivenSignature {
  /** `X-Service-Signature: sha256=<hexadecimal>`. */
  readonly ours?: string | undefined
  /** Stalwart's `X-Signature`, base64; only for sources of that provider. */
  readonly stalwart?: string | undefined
}

/** A source with a verified signature. */
export interface SignedSource {
  readonly organizationId: string
  readonly source: IngestSource
}

/** An incremental check of a body. */
export interface SignatureCheck {
  /** Organization of the source. Undefined without such a source; the signature is then always wrong, so the body need not be stored. */
  readonly organizationId: string | undefined
  readonly update: (bytes: Uint8Array) => void
  /**
   * Returns the source that signed the bytes. Throws `invalid_signature` for a wrong signature and for an unknown or revoked source. Throws
   * `feature_disabled` if bounce sources are switched off.
   */
  readonly finish: (given: GivenSignature) => Promise<SignedSource>
}

/** Minimum time between two records of the last request. */
const seenEveryMs = 60_000
/** Replaces the secret of a missing source, so that the response time does not reveal existing sources. */
const missingSecret = 'no source has this secret'

export class SignedSources {
  readonly #core: Core
  readonly #seen = new Map<string, number>()

  constructor(core: Core) {
    this.#core = core
  }

  /** Starts the check of a body for the source named in the request. */
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

  /** Records the time of the request, at most once a minute unless an agent is given. */
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
