/** Checks the fields of a publishable key and returns them in their stored form. */
import { addressProblem } from '#config/mail/address-problem.ts'
import { trimInvisible } from '#config/mail/invisible.ts'
import { parseDomain, parseExactAddress, parseExactMailbox } from '../addresses.ts'
import { invalid, type FieldProblem } from '../refusals.ts'
import type { CaptchaProvider } from '../visitors/captcha.ts'
import { webOrigin } from '../visitors/web-origin.ts'
import type { PublishableKey, RatePreset, Rates } from './publishable-key.ts'

export interface NewPublishableKey {
  readonly name: string
  readonly allowedOrigins: readonly string[]
  readonly allowedTo: readonly string[]
  readonly lockedFrom: string
  readonly ratePreset: RatePreset
  readonly rates: Partial<Rates>
  readonly captchaProvider?: CaptchaProvider | undefined
  readonly captchaSecret?: string | undefined
  readonly captchaSiteKey?: string | undefined
  /** Defaults to the caller's project. */
  readonly projectId?: string | undefined
}

/** Throws `validation_failed` with every invalid field. */
export function checkRequest(request: NewPublishableKey): Pick<PublishableKey, 'allowedOrigins' | 'allowedTo' | 'lockedFrom'> {
  const problems: FieldProblem[] = []
  const allowedOrigins = each(
    request.allowedOrigins,
    webOrigin,
    'allowed_origins',
    'must be an origin such as https://shop.example.ch, without a path; http is allowed only for http://localhost',
    problems,
  )
  const wrongAddress = 'must be an address such as ada@example.ch, or @example.ch for every address of the domain'
  const allowedTo = each(request.allowedTo, toEntry, 'allowed_to', wrongAddress, problems)
  const locked = parseExactMailbox(request.lockedFrom)
  if (!locked)
    problems.push({ path: 'locked_from', message: addressProblem(request.lockedFrom) ?? 'must be one address such as shop@example.ch' })
  problems.push(...captchaProblems(request))
  if (problems.length > 0) throw invalid(problems)
  return { allowedOrigins, allowedTo, lockedFrom: trimInvisible(request.lockedFrom) }
}

function captchaProblems({ captchaProvider, captchaSecret, captchaSiteKey }: NewPublishableKey): FieldProblem[] {
  if (captchaProvider !== undefined)
    return captchaSecret === undefined ? [{ path: 'captcha_secret', message: 'is required with captcha_provider' }] : []
  const path = captchaSecret === undefined ? 'captcha_site_key' : 'captcha_secret'
  const isGiven = captchaSecret !== undefined || captchaSiteKey !== undefined
  return isGiven ? [{ path, message: 'requires captcha_provider: turnstile or hcaptcha' }] : []
}

/** Returns the folded entry. */
function toEntry(text: string): string | undefined {
  const trimmed = trimInvisible(text)
  if (!trimmed.startsWith('@')) return parseExactAddress(trimmed)?.address.toLowerCase()
  const domain = parseDomain(trimmed.slice(1))
  return domain === undefined ? undefined : `@${domain}`
}

/** Returns the entries in their stored form, without duplicates. */
function each(
  given: readonly string[],
  read: (text: string) => string | undefined,
  path: string,
  message: string,
  problems: FieldProblem[],
): string[] {
  const entries = given.map((text, index) => {
    const entry = read(text)
    if (entry === undefined) problems.push({ path: `${path}[${index}]`, message: addressProblem(text) ?? message })
    return entry
  })
  return [...new Set(entries.filter((entry) => entry !== undefined))]
}
