/** Whether a visitor solved the captcha of a key, as its provider says (Turnstile and hCaptcha, whose verification is alike). */
import type { SecretBox } from '../access/secret-box.ts'
import type { Post, PostOutcome } from '../outbound/post.ts'
import { Refusal } from '../refusals.ts'
import { captchaPlace, type CaptchaProvider, type PublishableKey } from './publishable-key.ts'

export interface CaptchaOptions {
  readonly secrets: Pick<SecretBox, 'open'>
  readonly post: Post
  /** Where each provider verifies. */
  readonly verifyUrls: Readonly<Record<CaptchaProvider, string>>
}

/** What the visitor's page has sent along. */
export interface Solution {
  /** Undefined: the page sent none. */
  readonly token: string | undefined
  readonly remoteAddress: string
}

const limits = { deadlineMs: 8000, answerBytesMax: 16_384 }

/** The longest token of either provider has room in it twice. */
export const captchaTokenMax = 8192

/** Throws `captcha_required`, `captcha_failed`, `captcha_unavailable` or `captcha_not_configured`. */
export async function verifyCaptcha(
  { secrets, post, verifyUrls }: CaptchaOptions,
  { id, captcha }: Pick<PublishableKey, 'id' | 'captcha'>,
  { token, remoteAddress }: Solution,
): Promise<void> {
  if (captcha === null) return
  if (token === undefined || token === '')
    throw new Refusal('captcha_required', 'This key asks visitors for a captcha; send its token in the header X-Service-Captcha-Token.')
  if (token.length > captchaTokenMax) throw failed()
  const secret = secrets.open(captcha.sealedSecret, captchaPlace(id))
  if (secret === undefined) throw notConfigured('cannot be opened on this service')
  const fields = { secret, response: token, ...(remoteAddress !== '' && { remoteip: remoteAddress }) }
  const siteKey = captcha.provider === 'hcaptcha' && captcha.siteKey !== null ? { sitekey: captcha.siteKey } : {}
  const body = Buffer.from(new URLSearchParams({ ...fields, ...siteKey }).toString())
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json', 'user-agent': 'Postern' }
  const request = { url: verifyUrls[captcha.provider], headers, body }
  judge(await post(request, limits, new AbortController().signal))
}

/** Codes of both providers that blame the secret, and so whoever has set it. */
const faultsOfSecret = ['missing-input-secret', 'invalid-input-secret', 'sitekey-secret-mismatch']

function judge(outcome: PostOutcome): void {
  const verdict = 'status' in outcome && outcome.status < 500 ? readVerdict(outcome.answer) : undefined
  if (!verdict || verdict.codes.includes('internal-error'))
    throw new Refusal('captcha_unavailable', 'The captcha provider cannot be asked at the moment; send again in a minute.', {
      retryAfterSeconds: 60,
    })
  if (verdict.success) return
  if (faultsOfSecret.some((code) => verdict.codes.includes(code))) throw notConfigured('is not the one that its provider knows')
  throw failed()
}

/** `{success, "error-codes"}`; undefined for an answer that is nothing of that sort. */
function readVerdict(answer: Uint8Array): { readonly success: boolean; readonly codes: readonly unknown[] } | undefined {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(answer).toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || !('success' in value) || typeof value.success !== 'boolean') return undefined
  const codes = 'error-codes' in value && Array.isArray(value['error-codes']) ? (value['error-codes'] as unknown[]) : []
  return { success: value.success, codes }
}

export const failed = (): Refusal =>
  new Refusal('captcha_failed', 'The captcha was not solved, or its token was used before or is too old; solve it again.')

const notConfigured = (why: string): Refusal =>
  new Refusal('captcha_not_configured', `The captcha secret of this key ${why}; whoever runs the page has to set it anew.`)
