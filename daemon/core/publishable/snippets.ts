/** Creates snippets from reveal links, so that no person or agent sees the token. */
import type { Database } from '#store/database.ts'
import type { Principal } from '../access/principal/principal.ts'
import { foldAddress, parseExactAddress, parseMailbox, type Mailbox } from '../addresses.ts'
import { invalid, Refusal, type FieldProblem } from '../refusals.ts'
import { honeypot } from '../visitors/honeypot.ts'
import { covers } from './publishable-gates.ts'
import { publishableKeys, type PublishableKey } from './publishable-key.ts'
import type { Reveals } from './reveals.ts'
import { renderSnippet, usualFields, type SnippetField, type SnippetStyle } from './snippet.ts'

export interface SnippetRequest {
  readonly revealUrl: string
  readonly toAddress: string
  readonly fromAddress: string
  readonly formFields?: readonly SnippetField[] | undefined
  readonly templateStyle: SnippetStyle
}

export interface Snippet {
  readonly html: string
  /** Origins of the pages that can use it. */
  readonly allowedOrigins: readonly string[]
}

export interface SnippetsOptions {
  readonly database: Database
  readonly reveals: Reveals
  /** Base URL of the REST API, without version and trailing slash. */
  readonly baseUrl: string
}

export class Snippets {
  readonly #options: SnippetsOptions

  constructor(options: SnippetsOptions) {
    this.#options = options
  }

  /** Uses up the link, unless it throws `validation_failed`, `reveal_expired` or `not_found`. */
  async generate(principal: Principal, request: SnippetRequest): Promise<Snippet> {
    const { database, reveals, baseUrl } = this.#options
    const code = reveals.codeOf(request.revealUrl)
    if (code === undefined) throw invalid([{ path: 'reveal_url', message: 'is not a reveal link of this service' }])
    const { organizationId, key } = await reveals.look(code)
    const isReachable =
      organizationId === principal.organizationId && (await database.get(publishableKeys, principal, key.id)) !== undefined
    if (!isReachable) throw new Refusal('not_found', 'reveal_url: no publishable key of yours has this link.')
    const to = checkRequest(key, request)
    const token = await reveals.take(code, principal)
    const { formFields: fields = usualFields, templateStyle: style } = request
    const options = { token, to, fields, style, from: key.lockedFrom, captcha: key.captcha }
    return { html: renderSnippet({ ...options, sendUrl: `${baseUrl}/v1/messages` }), allowedOrigins: key.allowedOrigins }
  }
}

/** Returns the recipient. Throws `validation_failed` for values that the key would refuse when visitors use the form. */
function checkRequest(key: PublishableKey, { toAddress, fromAddress, formFields = [] }: SnippetRequest): Mailbox {
  const problems: FieldProblem[] = []
  const to = parseExactAddress(toAddress)
  if (!to || !key.allowedTo.some((entry) => covers(entry, to)))
    problems.push({ path: 'to_address', message: `must be one of allowed_to of the key: ${key.allowedTo.join(', ')}` })
  const from = parseMailbox(fromAddress)
  const locked = parseMailbox(key.lockedFrom)
  if (!from || !locked || foldAddress(from.address) !== foldAddress(locked.address))
    problems.push({ path: 'from_address', message: `must be locked_from of the key: ${key.lockedFrom}` })
  if (key.captcha?.siteKey === null)
    problems.push({ path: 'reveal_url', message: 'belongs to a key with a captcha but without captcha_site_key, which the page needs' })
  const names = [honeypot, ...formFields.map(({ name }) => name)]
  if (new Set(names).size < names.length)
    problems.push({ path: 'form_fields', message: `must have different names, none of which is ${honeypot}` })
  if (problems.length > 0 || !to) throw invalid(problems)
  return to
}
