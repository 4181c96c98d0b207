/** Creates, lists, rotates and revokes publishable keys, and authenticates a presented token. */
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../core.ts'
import { refuseSenders } from '../access/principal/agent-approval.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../access/principal/lists.ts'
import { owningProject } from '../access/principal/project-choice.ts'
import type { Principal } from '../access/principal/principal.ts'
import { refusedLetter } from '../insights/count.ts'
import type { LateCounts } from '../insights/late-counts.ts'
import { isSwitchedOn } from '../plan/features.ts'
import { Refusal } from '../refusals.ts'
import { assertOrigin } from './publishable-gates.ts'
import { previewToken, publishablePrefix, type KeyTokens } from './key-token.ts'
import { captchaContext, publishableKeys, works, type PublishableKey } from './publishable-key.ts'
import { checkRequest, type NewPublishableKey } from './key-request.ts'
import type { RevealLink, Reveals } from './reveals.ts'
import { must } from '../writes/transact.ts'

export interface PublishableKeyOptions extends Core {
  readonly tokens: KeyTokens
  readonly reveals: Reveals
  /** Returns whether the authorization server issued the token, for any client. */
  readonly isAccessToken: (token: string) => Promise<boolean>
  readonly lateCounts: Pick<LateCounts, 'count'>
}

/** A key with its token, which the service cannot show later. */
export interface PublishableKeyWithToken {
  readonly record: PublishableKey
  readonly token: string
}

/** A key whose token only the link shows, once. */
export interface RevealablePublishableKey {
  readonly record: PublishableKey
  readonly link: RevealLink
}

export class PublishableKeys implements List<OfProject, PublishableKey> {
  readonly #options: PublishableKeyOptions

  constructor(options: PublishableKeyOptions) {
    this.#options = options
  }

  /** Throws `validation_failed` and `not_found`. */
  create(principal: Principal, request: NewPublishableKey): Promise<PublishableKeyWithToken> {
    return this.#options.writes.runAudited(principal, 'publishable_key.minted', (change) => this.#create(change, principal, request))
  }

  /** Like `create`, but returns a link to the token, for callers that must not see it. */
  createWithReveal(principal: Principal, request: NewPublishableKey): Promise<RevealablePublishableKey> {
    return this.#options.writes.runAudited(principal, 'publishable_key.minted', async (change) =>
      this.#hidden(change, principal, await this.#create(change, principal, request)),
    )
  }

  /** Replaces the token under the same id and keeps the usage counts; the old token is rejected immediately. */
  rotate(principal: Principal, id: string, reason?: string): Promise<PublishableKeyWithToken> {
    const act = (change: Change) => this.#rotate(change, principal, id)
    return this.#options.writes.runAudited(principal, 'publishable_key.rotated', act, because(reason))
  }

  /** Like `rotate`, but returns a link to the new token. */
  rotateWithReveal(principal: Principal, id: string, reason?: string): Promise<RevealablePublishableKey> {
    const act = async (change: Change) => this.#hidden(change, principal, await this.#rotate(change, principal, id))
    return this.#options.writes.runAudited(principal, 'publishable_key.rotated', act, because(reason))
  }

  /** Revokes a key immediately; repeating the call has no effect. */
  revoke(principal: Principal, id: string, reason?: string): Promise<PublishableKey> {
    const { writes, clock } = this.#options
    const revoke = async (change: Change): Promise<PublishableKey> => {
      const stored = await this.#get(principal, id)
      if (stored.record.revokedAt !== null) return stored.record
      const now = clock.now()
      const record = { ...stored.record, updatedAt: now, revokedAt: now }
      change.replace(publishableKeys, principal.organizationId, stored, record)
      return record
    }
    return writes.runAudited(principal, 'publishable_key.revoked', revoke, because(reason))
  }

  /** Newest first, including revoked keys. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<PublishableKey>> {
    return listReachable(this.#options, publishableKeys, principal, query)
  }

  /** Throws `not_found` for missing ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<PublishableKey> {
    return (await this.#get(principal, id)).record
  }

  /**
   * Returns the principal of a token on a page of this origin. Throws `invalid_key`, `key_kind_mismatch`, `feature_unavailable` or
   * `origin_not_allowed`.
   */
  async authenticate(token: string, origin: string | undefined): Promise<Principal> {
    const { database, policies, tokens, isAccessToken } = this.#options
    const tokenId = tokens.read(token)
    if (tokenId === undefined) {
      if (!(await isAccessToken(token.slice(publishablePrefix.length)))) throw invalidKey()
      throw new Refusal('key_kind_mismatch', 'This token was not issued as a publishable key, despite its prefix; create one.')
    }
    const found = await database.lookup(publishableKeys, 'token', [tokenId])
    if (!found || !works(found.record, tokenId)) throw invalidKey()
    const { organizationId, record } = found
    const { organization, deleted } = await policies.of(organizationId)
    if (organization.deletedAt !== undefined || deleted.has(record.projectId)) throw invalidKey()
    if (!isSwitchedOn(organization, 'publishable_keys'))
      throw new Refusal(
        'feature_unavailable',
        'Publishable keys are turned off on this service; ask the owner of the page for another contact.',
      )
    const { id: grantId, projectId } = record
    try {
      assertOrigin(record, origin)
    } catch (error) {
      if (error instanceof Refusal) this.#options.lateCounts.count({ organizationId, projectId }, refusedLetter + error.code, grantId)
      throw error
    }
    return { organizationId, projectId, bound: true, scopes: ['api:send'], credentialId: grantId, publishableToken: tokenId }
  }

  /** Returns the current key of a principal of `authenticate`. Throws `invalid_key` if the token was rotated or revoked since. */
  async ofBearer(principal: Principal): Promise<PublishableKey> {
    const stored = await this.#options.database.get(publishableKeys, principal, principal.credentialId)
    if (!stored || !works(stored.record, principal.publishableToken)) throw invalidKey()
    return stored.record
  }

  async #create(change: Change, principal: Principal, request: NewPublishableKey): Promise<PublishableKeyWithToken> {
    const { database, policies, clock, secrets } = this.#options
    const policy = await policies.of(principal.organizationId)
    const projectId = owningProject(principal, policy.projects, request.projectId)
    refuseSenders(policy, principal, [projectId])
    const checked = checkRequest(request)
    const now = clock.now()
    const id = database.newId('pk', now)
    const { name, ratePreset, rates, captchaProvider, captchaSecret = '', captchaSiteKey = null } = request
    const captcha = captchaProvider && {
      ...{ provider: captchaProvider, siteKey: captchaSiteKey },
      sealedSecret: secrets.seal(captchaSecret, captchaContext(id)),
    }
    const { token, ...named } = this.#newToken(principal, { id, projectId }, now)
    const facts = { id, name, projectId, ...named, ...checked, ratePreset, rates, captcha: captcha ?? null }
    const record: PublishableKey = { ...facts, createdAt: now, updatedAt: now, revokedAt: null }
    change.insert(publishableKeys, principal.organizationId, record)
    return { record, token }
  }

  async #rotate(change: Change, principal: Principal, id: string): Promise<PublishableKeyWithToken> {
    const stored = await this.#get(principal, id)
    refuseSenders(await this.#options.policies.of(principal.organizationId), principal, [stored.record.projectId])
    if (stored.record.revokedAt !== null) throw new Refusal('conflict', 'This publishable key is revoked; create a new one.')
    const now = this.#options.clock.now()
    const { token, ...named } = this.#newToken(principal, stored.record, now)
    const record = { ...stored.record, ...named, updatedAt: now }
    change.replace(publishableKeys, principal.organizationId, stored, record)
    return { record, token }
  }

  #newToken({ organizationId }: Principal, { id, projectId }: Pick<PublishableKey, 'id' | 'projectId'>, nowMs: number) {
    const tokenId = this.#options.database.newId('pkt', nowMs)
    const token = this.#options.tokens.sign({ keyId: id, tokenId, organizationId, projectId }, nowMs)
    return { token, tokenId, preview: previewToken(token) }
  }

  #hidden(change: Change, { organizationId }: Principal, { record, token }: PublishableKeyWithToken): RevealablePublishableKey {
    const { id: keyId, projectId, tokenId } = record
    return { record, link: this.#options.reveals.add(change, { organizationId, projectId, keyId, tokenId, token }) }
  }

  #get(principal: Principal, id: string): Promise<Stored<PublishableKey>> {
    return must(this.#options.database, publishableKeys, principal, id)
  }
}

const because = (reason: string | undefined): Readonly<Record<string, unknown>> => (reason === undefined ? {} : { reason })

const invalidKey = (): Refusal =>
  new Refusal('invalid_key', 'This publishable key is unknown, rotated or revoked; the owner of the page must insert an active one.')
