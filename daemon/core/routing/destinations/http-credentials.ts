/** Credentials of a provider with an API: checked against the table of providers, and merged with stored values. */
import { isIP } from 'node:net'
import { closest } from '#config/texts/closest.ts'
import { credentialFields, type CredentialField, type HttpProvider } from '#config/mail/providers.ts'
import { isPublicAddress, notPermitted } from '../../outbound/address-guard.ts'
import { invalid, type FieldProblem } from '../../refusals.ts'
import type { HttpDestination } from '../destination.ts'
import { addressesIfAny } from '../../outbound/resolver.ts'
import type { EndpointGuards } from './endpoint.ts'

/** By the provider's names, and `base_url`. Null clears a value; omitted values stay. */
export type CredentialChanges = Readonly<Record<string, string | null | undefined>>

export interface CheckedCredentials {
  readonly baseUrl: string | null
  readonly credentials: Readonly<Record<string, string>>
  /** Secrets of this request. */
  readonly secrets: Readonly<Record<string, string>>
  /** Names of stored secrets that remain. */
  readonly kept: readonly string[]
}

type Stored = Pick<HttpDestination, 'baseUrl' | 'credentials' | 'sealedCredentials'>

const nothingStored: Stored = { baseUrl: null, credentials: {}, sealedCredentials: {} }
/** Permitted ports. Other ports would turn a destination into a port scanner. */
const apiPorts: readonly number[] = [443, 8443]

/** Throws `validation_failed` naming missing, unknown or forbidden values. The DNS lookup may take seconds. */
export async function checkCredentials(
  provider: HttpProvider,
  given: CredentialChanges,
  guards: EndpointGuards,
  stored: Stored = nothingStored,
): Promise<CheckedCredentials> {
  const fields = credentialFields(provider)
  const { base_url: base, ...named } = given
  const problems = unknownNames(provider, named)
  const credentials: Record<string, string> = {}
  const secrets: Record<string, string> = {}
  const kept: string[] = []
  for (const [name, field] of Object.entries(fields)) {
    const value = named[name]
    const before = (field.secret ? stored.sealedCredentials : stored.credentials)[name]
    if (value == null) {
      if (field.required && (value === null || before === undefined)) problems.push({ path: pathOf(name), message: missing(field) })
      else if (value === undefined && before !== undefined && field.secret) kept.push(name)
      else if (value === undefined && before !== undefined) credentials[name] = before
    } else if (field.choices && !field.choices.includes(value))
      problems.push({ path: pathOf(name), message: wrongChoice(value, field.choices) })
    else (field.secret ? secrets : credentials)[name] = value
  }
  const checked = base == null ? { origin: base === null ? null : stored.baseUrl } : await checkBaseUrl(base, guards)
  if ('problem' in checked) problems.push({ path: pathOf('base_url'), message: checked.problem })
  else if (checked.origin !== stored.baseUrl) problems.push(...kept.map((name) => ({ path: pathOf(name), message: notTakenOver })))
  if (problems.length > 0 || 'problem' in checked) throw invalid(problems)
  return { baseUrl: checked.origin, credentials, secrets, kept }
}

const notTakenOver = 'give it again: a stored secret is not reused with another base_url'
const pathOf = (name: string): string => `credentials.${name}`
const missing = ({ describe }: CredentialField): string => `is required: ${describe}`

function unknownNames(provider: HttpProvider, given: CredentialChanges): FieldProblem[] {
  const fields = credentialFields(provider)
  return Object.keys(given)
    .filter((name) => given[name] !== undefined && !Object.hasOwn(fields, name))
    .map((name) => ({
      path: pathOf(name),
      message: `is not a credential of ${provider}, which has ${Object.keys(fields).join(', ')} and base_url`,
    }))
}

function wrongChoice(value: string, choices: readonly string[]): string {
  const near = closest(value, choices)
  return `must be one of ${choices.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`
}

/** Returns the origin, or the problem. */
async function checkBaseUrl(
  text: string,
  { guard, resolver }: EndpointGuards,
): Promise<{ readonly origin: string } | { readonly problem: string }> {
  const url = URL.parse(text)
  const isOrigin = url && `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/'
  if (!isOrigin || !['https:', 'http:'].includes(url.protocol))
    return { problem: 'must be an origin such as https://mail-api.example.ch, without path, query or user name' }
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const addresses = isIP(host) === 0 ? await addressesIfAny(resolver, host) : [host]
  const permitted = addresses.filter((address) => guard(address, port))
  if (addresses.length > 0 && permitted.length === 0) return { problem: notPermitted('destinations', host, port) }
  // The guard always permits public addresses. If only private addresses are permitted, the operator has allowed them.
  if (permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))) return { origin: url.origin }
  if (url.protocol === 'http:') return { problem: 'must begin with https://, so that credentials are not sent in clear' }
  return apiPorts.includes(port) ? { origin: url.origin } : { problem: `must be on port ${apiPorts.join(' or ')}` }
}
