/** SMTP endpoint of a destination: completed from a preset, and checked before storing. */
import { isIP } from 'node:net'
import { findPreset, presetIds } from '#config/mail/presets.ts'
import { parseDomain } from '../../addresses.ts'
import { isLoopbackAddress, isPublicAddress, notPermitted, type AddressGuard } from '../../outbound/address-guard.ts'
import { addressesIfAny, type Resolver } from '../../outbound/resolver.ts'
import { invalid, type FieldProblem } from '../../refusals.ts'
import type { SmtpDestination } from '../destination.ts'
import { checkOAuth2, type OAuth2Grant, type OAuth2Request } from './oauth2.ts'

/** As requested; values of the preset can be omitted. */
export interface EndpointRequest {
  readonly preset?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly security?: SmtpDestination['security'] | undefined
  readonly tlsPolicy?: SmtpDestination['tlsPolicy'] | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Access tokens instead of a password. */
  readonly oauth2?: OAuth2Request | undefined
  /** Keep the stored password or OAuth 2.0 grant. */
  readonly keepsPassword?: boolean | undefined
}

export type Endpoint = Pick<SmtpDestination, 'preset' | 'host' | 'port' | 'security' | 'tlsPolicy' | 'username'> & {
  readonly password: string | undefined
  readonly oauth2: OAuth2Grant | undefined
}

export interface EndpointGuards {
  readonly guard: AddressGuard
  readonly resolver: Resolver
}

/** Ports for submission or relay of mail. */
const mailPorts: readonly number[] = [25, 465, 587, 2465, 2525, 2587]

/** Throws `validation_failed` naming missing or forbidden values. The DNS lookup may take seconds. */
export async function checkEndpoint(request: EndpointRequest, guards: EndpointGuards): Promise<Endpoint> {
  const filled = withPreset(request)
  const problems = request.keepsPassword ? [] : loginProblems(filled, request)
  // concurrently, because each waits for slow name servers
  const [oauth2, addresses] = await Promise.all([
    request.oauth2 && problems.length === 0 ? checkOAuth2(request.oauth2, filled.host, guards) : undefined,
    addressesIfAny(guards.resolver, filled.host),
  ])
  const endpoint = { ...filled, oauth2 }
  problems.push(...addressProblems(endpoint, addresses, guards.guard))
  if (problems.length > 0) throw invalid(problems)
  return endpoint
}

function withPreset(request: EndpointRequest): Omit<Endpoint, 'oauth2'> {
  const preset = request.preset === undefined ? undefined : findPreset(request.preset)
  if (request.preset !== undefined && !preset)
    throw invalid([{ path: 'preset', message: `no preset has this name; GET /v1/destinations/presets lists all ${presetIds.length}` }])
  const host = request.host ?? (preset && !preset.hostIsTemplate ? preset.host : undefined)
  const port = request.port ?? preset?.port
  const security = request.security ?? preset?.security
  const fill = preset && `the preset ${preset.id} does not define it; give it in the form ${preset.host}`
  const parsed = host === undefined ? undefined : parseHost(host)
  const problems: FieldProblem[] = []
  if (host === undefined) problems.push({ path: 'credentials.host', message: fill ?? 'is required' })
  else if (parsed === undefined) problems.push({ path: 'credentials.host', message: 'must be a host name or an IP address' })
  if (port === undefined) problems.push({ path: 'credentials.port', message: 'is required' })
  if (security === undefined) problems.push({ path: 'credentials.security', message: 'is required: tls, starttls or none' })
  if (parsed === undefined || port === undefined || security === undefined) throw invalid(problems)
  const { tlsPolicy = 'verify', password } = request
  const username = request.username ?? (password === undefined ? undefined : preset?.fixedUsername) ?? null
  return { preset: preset?.id ?? null, host: parsed, port, security, tlsPolicy, username, password }
}

function parseHost(host: string): string | undefined {
  const literal = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (isIP(literal) !== 0) return literal.includes('%') ? undefined : literal.toLowerCase()
  return parseDomain(host)
}

function loginProblems({ username, password }: Pick<Endpoint, 'username' | 'password'>, { oauth2 }: EndpointRequest): FieldProblem[] {
  if (oauth2 && password !== undefined) return [{ path: 'credentials.oauth2', message: 'replaces password; give only one of them' }]
  if (oauth2 && username === null) return [{ path: 'credentials.username', message: 'is required with oauth2: the mailbox to sign in to' }]
  if (oauth2 || (username === null) === (password === undefined)) return []
  const missing = username === null ? 'username' : 'password'
  return [{ path: `credentials.${missing}`, message: 'is required with the other: give both user name and password, or neither' }]
}

function addressProblems(
  { host, port, security, username, preset }: Endpoint,
  addresses: readonly string[],
  guard: AddressGuard,
): FieldProblem[] {
  const permitted = addresses.filter((address) => guard(address, port))
  // The guard always permits public addresses. If only private addresses are permitted, the operator has allowed them.
  const allowedByOperator = permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))
  if (addresses.length > 0 && permitted.length === 0) {
    const message = notPermitted('destinations', host, port)
    return [{ path: 'credentials.host', message }]
  }
  const problems: FieldProblem[] = []
  if (!mailPorts.includes(port) && !allowedByOperator && !isOfPreset(preset, host, port))
    problems.push({ path: 'credentials.port', message: `must be one of ${mailPorts.join(', ')}` })
  const isLocal = addresses.length > 0 && addresses.every(isLoopbackAddress)
  if (security === 'none' && username !== null && !isLocal)
    problems.push({ path: 'credentials.security', message: 'must be tls or starttls, so that the password is not sent in clear' })
  return problems
}

function isOfPreset(id: string | null, host: string, port: number): boolean {
  const preset = id === null ? undefined : findPreset(id)
  return preset?.port === port && (preset.host === host || preset.hostIsTemplate)
}
