/** Verifies captcha tokens of visitors with the provider (Turnstile or hCaptcha, whose APIs are similar). */
import type { SealedSecret, SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../clock.ts'
import type { Post, PostOutcome } from '../outbound/post.ts'
import { Refusal } from '../refusals.ts'

export const captchaProviders = ['turnstile', 'hcaptcha'] as const
export type CaptchaProvider = (typeof captchaProviders)[number]

/** Captcha settings of a key or form. */
export interface Captcha {
  readonly provider: CaptchaProvider
  readonly sealedSecret: SealedSecret
  /** Public key with which pages show the challenge. */
  readonly siteKey: string | null
}

/** The key or form that requires a captcha. */
export interface CaptchaOwner {
  readonly id: string
  readonly captcha: Captcha | null
  /** Context under which the secret is sealed. */
  readonly place: string
  /** Noun in error messages. */
  readonly noun: 'key' | 'form'
}

export interface CaptchaOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly secrets: Pick<SecretBox, 'open'>
  readonly post: Post
  /** Verification URL of each provider. */
  readonly verifyUrls: Readonly<Record<CaptchaProvider, string>>
}

/** A provider that answered none of the latest verifications of this daemon. */
export interface CaptchaOutage {
  readonly provider: CaptchaProvider
  readonly since: number
  /** Time of the latest verification. */
  readonly latestAt: number
  /** Number of refused submissions and sends. */
  readonly count: number
}

/** Data of the visitor's request. */
export interface Solution {
  /** Undefined if the request contains no token. */
  readonly token: string | undefined
  readonly remoteAddress: string
}

const limits = { deadlineMs: 8000, maxAnswerBytes: 16_384 }

/** Twice the maximum length of either provider's tokens. */
export const maxCaptchaToken = 8192

/**
 * Maximum number of concurrent verifications, for one owner and in total. A provider that hangs must not use up the service's connections.
 */
const maxWaiting = { ofClient: 32, altogether: 512 }

/** Shared by forms and publishable keys, whose verifications are limited in total. */
export class Captchas {
  readonly #options: CaptchaOptions
  readonly #outages = new Map<CaptchaProvider, CaptchaOutage>()
  readonly #waiting = new Map<string, number>()
  #waitingAltogether = 0

  constructor(options: CaptchaOptions) {
    this.#options = options
  }

  get outages(): readonly CaptchaOutage[] {
    return [...this.#outages.values()]
  }

  /** Throws `captcha_required`, `captcha_failed`, `captcha_unavailable` or `captcha_not_configured`. */
  async verify({ id, captcha, place, noun }: CaptchaOwner, { token, remoteAddress }: Solution): Promise<void> {
    if (captcha === null) return
    if (token === undefined || token === '')
      throw new Refusal(
        'captcha_required',
        `This ${noun} asks visitors for a captcha; send its token in the header X-Service-Captcha-Token.`,
      )
    if (token.length > maxCaptchaToken) throw failed()
    const secret = this.#options.secrets.open(captcha.sealedSecret, place)
    if (secret === undefined) throw notConfigured(noun, 'cannot be opened on this service')
    const fields = { secret, response: token, ...(remoteAddress !== '' && { remoteip: remoteAddress }) }
    const siteKey = captcha.provider === 'hcaptcha' && captcha.siteKey !== null ? { sitekey: captcha.siteKey } : {}
    const verdict = verdictOf(await this.#ask(id, captcha.provider, { ...fields, ...siteKey }))
    this.#note(captcha.provider, verdict !== undefined)
    assertPassed(noun, verdict)
  }

  #note(provider: CaptchaProvider, hasAnswered: boolean): void {
    if (hasAnswered) return void this.#outages.delete(provider)
    const latestAt = this.#options.clock.now()
    const { since = latestAt, count = 0 } = this.#outages.get(provider) ?? {}
    this.#outages.set(provider, { provider, since, latestAt, count: count + 1 })
  }

  async #ask(clientId: string, provider: CaptchaProvider, fields: Readonly<Record<string, string>>): Promise<PostOutcome> {
    const { post, verifyUrls } = this.#options
    const before = this.#waiting.get(clientId) ?? 0
    if (before >= maxWaiting.ofClient || this.#waitingAltogether >= maxWaiting.altogether) throw unavailable(5)
    this.#waiting.set(clientId, before + 1)
    this.#waitingAltogether++
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', 'user-agent': 'Postern' }
    const body = Buffer.from(new URLSearchParams(fields).toString())
    try {
      return await post({ url: verifyUrls[provider], headers, body }, limits, new AbortController().signal)
    } finally {
      this.#waitingAltogether--
      const others = (this.#waiting.get(clientId) ?? 1) - 1
      if (others > 0) this.#waiting.set(clientId, others)
      else this.#waiting.delete(clientId)
    }
  }
}

/** Error codes of both providers for a wrong secret, which the owner must correct. */
const faultsOfSecret = ['missing-input-secret', 'invalid-input-secret', 'sitekey-secret-mismatch', 'not-using-dummy-passcode']

function assertPassed(noun: CaptchaOwner['noun'], verdict: Verdict | undefined): void {
  if (!verdict) throw unavailable(60)
  if (verdict.success) return
  if (faultsOfSecret.some((code) => verdict.codes.includes(code))) throw notConfigured(noun, 'was rejected by its provider')
  throw failed()
}

interface Verdict {
  readonly success: boolean
  readonly codes: readonly unknown[]
}

/** Returns undefined if the provider did not decide. */
function verdictOf(outcome: PostOutcome): Verdict | undefined {
  const verdict = 'status' in outcome ? readVerdict(outcome) : undefined
  return verdict?.codes.includes('internal-error') ? undefined : verdict
}

/** Parses `{success, "error-codes"}`; undefined for other responses. A negative result can have a 4xx status. */
function readVerdict({ status, answer }: { readonly status: number; readonly answer: Uint8Array }): Verdict | undefined {
  const value = parseJson(answer)
  if (typeof value !== 'object' || value === null || !('success' in value) || typeof value.success !== 'boolean') return undefined
  const isGood = status >= 200 && status < 300
  const isBadRequest = status >= 400 && status < 500 && status !== 429
  if (!isGood && (value.success || !isBadRequest)) return undefined
  const codes = 'error-codes' in value && Array.isArray(value['error-codes']) ? (value['error-codes'] as unknown[]) : []
  return { success: value.success, codes }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return undefined
  }
}

export const failed = (): Refusal =>
  new Refusal('captcha_failed', 'The captcha was not solved, or its token has expired or was used before; solve it again.')

const unavailable = (retryAfterSeconds: number): Refusal =>
  new Refusal('captcha_unavailable', 'The captcha provider is unreachable; send again in a minute.', { retryAfterSeconds })

const notConfigured = (noun: CaptchaOwner['noun'], why: string): Refusal =>
  new Refusal('captcha_not_configured', `The captcha secret of this ${noun} ${why}; the owner of the page must set it again.`)
