/** The way of a notice to an author: by the destination of the message with a null reverse-path, or as system mail. */
import type { Principal } from '../access/principal/principal.ts'
import { parseAddress, type Mailbox } from '../addresses.ts'
import { takesReturnPaths } from '../delivery/attempt/verp-copies.ts'
import type { SystemMail } from '../people/mail/system-mail.ts'
import type { Policy } from '../routing/policy/policy.ts'
import type { Trace } from '../trace/trace.ts'

export interface NoticeWay {
  readonly principal: Principal
  readonly destinationId: string
  readonly from: Mailbox
  /** Empty means the null reverse-path. */
  readonly mailFrom: string
  readonly isSystemMail: boolean
}

interface WayOptions {
  readonly mail: Pick<SystemMail, 'way'>
  /** Host name of this service. */
  readonly hostname: string
}

/** Returns undefined if no destination can carry the notice. `isUnreached`: the destination accepted no mail until the message expired. */
export async function noticeWay(
  { mail, hostname }: WayOptions,
  { destinations, sendingDomains }: Policy,
  organizationId: string,
  trace: Trace,
  isUnreached: boolean,
): Promise<NoticeWay | undefined> {
  const system = await mail.way()
  const destination = destinations.get(trace.destinationId ?? '')
  const isUsable = destination?.mode === 'live' && takesReturnPaths(destination) && !(system && isUnreached)
  if (!isUsable) return system && { ...system, isSystemMail: true }
  const isVerified = (domain: string | undefined): domain is string => sendingDomains.get(domain ?? '')?.status === 'verified'
  const known = [trace.noticeTo, trace.headerFrom, trace.mailFrom].map((address) => parseAddress(address ?? '')?.domain)
  const domain = [...known, ...sendingDomains.keys()].find(isVerified)
  // without system mail and a verified domain, the host's postmaster is the author of notices (RFC 5321 §4.5.5)
  const from = domain === undefined ? (system?.from ?? daemonAt(hostname)) : daemonAt(domain)
  const { projectId, submittedBy: credentialId } = trace
  const principal: Principal = { organizationId, projectId, bound: true, scopes: ['api:send'], credentialId }
  return { principal, destinationId: destination.id, from, mailFrom: '', isSystemMail: false }
}

const daemonAt = (domain: string): Mailbox => ({
  ...{ address: `MAILER-DAEMON@${domain}`, local: 'MAILER-DAEMON', domain },
  name: 'Mail delivery',
})
