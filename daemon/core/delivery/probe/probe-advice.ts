/** Descriptions and advice for each step of a probe that failed or timed out. Pure. */
import type { Destination } from '../../routing/destination.ts'
import type { ProbeStep } from '../transport.ts'

/** Description of a step that timed out, with the timeout in seconds. */
const unended: Readonly<Record<string, (seconds: number) => string>> = {
  resolve: (seconds) => `The name servers did not answer within ${seconds} seconds.`,
  connect: (seconds) => `The host did not accept the connection within ${seconds} seconds.`,
  greeting: (seconds) => `The host accepted the connection and sent no greeting within ${seconds} seconds.`,
  tls: (seconds) => `The TLS handshake did not end within ${seconds} seconds.`,
  auth: (seconds) => `The sign-in at the provider did not complete within ${seconds} seconds.`,
}

const silence =
  'Check the network and the name servers of this service (POSTERN_DNS_SERVERS); the settings of the destination may be right.'

const adviceByCode: Readonly<Record<string, string>> = {
  dns_timeout: silence,
  dns_failed: silence,
  dns_not_found: 'Correct the host name.',
  address_forbidden: 'Give another host, or ask the operator to allow this one (POSTERN_OUTBOUND_ALLOW).',
  destination_misconfigured: 'Correct its settings.',
  connect_refused: 'Check the host and the port.',
  connect_timeout: 'Check the host, the port and the network; port 25 is often blocked, while 587 or 465 works.',
  connect_failed: 'Check the host, the port and the network.',
  tls_verification_failed: 'Give the host name that the certificate is for.',
  starttls_unavailable: 'Set security to tls, or give the port for STARTTLS.',
  auth_needs_tls: 'Set security to tls or starttls.',
}

const adviceByStep: Readonly<Record<string, string>> = {
  resolve: silence,
  connect: 'Check the host, the port and the network.',
  greeting: 'Check the port, and whether security fits it.',
  tls: 'Check the port, and whether security fits it.',
  auth: 'Correct the user name or the password.',
}

/** Returns the advice for a failed step. */
export const adviceFor = ({ step, code = '' }: Pick<ProbeStep, 'step' | 'code'>): string =>
  adviceByCode[code] ?? adviceByStep[step] ?? 'Ask the provider.'

/** Returns true if the name servers caused the failure, not the settings of the destination. */
export const isNameServers = ({ step, code = 'dns_timeout' }: Pick<ProbeStep, 'step' | 'code'>): boolean =>
  step === 'resolve' && (code === 'dns_timeout' || code === 'dns_failed')

/** Returns the current step as a step that failed because of the timeout. */
export function stepUnderWay(destination: Destination, seen: readonly ProbeStep[], milliseconds: number): ProbeStep {
  const ended = new Set(seen.map(({ step }) => step))
  const step = stepsOf(destination).find((one) => !ended.has(one)) ?? 'auth'
  return { step, ok: false, detail: unended[step]?.(milliseconds / 1000) ?? '', milliseconds }
}

/** Returns the steps of a probe of this destination, in order. */
function stepsOf(destination: Destination): readonly string[] {
  if (destination.provider !== 'smtp') return ['resolve', 'connect', 'tls', 'auth']
  const { security } = destination
  return ['resolve', 'connect', ...(security === 'tls' ? ['tls'] : []), 'greeting', ...(security === 'starttls' ? ['tls'] : []), 'auth']
}
